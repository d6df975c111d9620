"""The proof grid: six trees made from git objects, the named tests run in them, the whole suite compared (proof.md)."""
