"""Agents that an OpenCode server runs, over its HTTP interface (runners.md, 8)."""
