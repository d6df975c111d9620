"""What Remedy knows and says: settings, the rules of a run, the database, GitHub, the agents, the web."""

__version__ = "0.1.0"
