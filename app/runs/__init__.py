"""The rules of a run, pure: no clock, no network, no database, no environment."""
