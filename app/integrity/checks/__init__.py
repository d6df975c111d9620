"""Find the assertions of a test unit, with what they compare and how strictly (proof.md, 8.4)."""
