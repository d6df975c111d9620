"""Prove that a fix is a fix: the named tests in several trees, and what their results claim (proof.md)."""
