"""Agents that speak the Agent Client Protocol over stdio (runners.md, 9)."""
