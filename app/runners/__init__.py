"""How Remedy drives coding agents: one protocol, one turn, one closed list of errors."""
