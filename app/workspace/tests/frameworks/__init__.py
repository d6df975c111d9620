"""How each test framework is called and how its report is read, one file for each (proof.md, 5.1 and 5.2)."""
