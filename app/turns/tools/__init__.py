"""What an agent may ask of its host while it works: granted tools over MCP on the turn's own socket (runners.md, 6)."""
