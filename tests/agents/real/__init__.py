"""Real agents from npm, pinned, against the scripted model server; only by `make test-agents`."""
