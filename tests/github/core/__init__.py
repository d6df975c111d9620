"""What the local GitHub rests on: its clock, its state, its git repositories and GitHub's own description."""
