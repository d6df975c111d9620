"""The ledger, on SQLite and on PostgreSQL alike (ST-S4)."""
