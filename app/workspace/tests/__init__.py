"""Run named tests of a tree in a sandbox and read from a report what happened to each (proof.md, 4 and 5)."""
