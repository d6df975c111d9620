"""The database: what Remedy knows, and the only truth about what happened (architecture, decision 1)."""
