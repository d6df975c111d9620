"""What the pull request itself says about the fix: signs of intent and evidence (proof.md, 7.1)."""
