"""The local GitHub held against its own rules (github.md, part C)."""
