"""Remote agents: sessions that run elsewhere and are reached through an MCP server or gateway (runners.md, 10)."""
