"""Many runs at once on the real process tree, while processes are killed at random and at named points."""
