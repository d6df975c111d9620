"""Code that is not ours: checkouts of it, sandboxes to run it in, proofs of what it does."""
