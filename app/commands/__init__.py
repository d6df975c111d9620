"""What people say to Remedy: reading `/remedy` lines out of a comment, and the table of verbs."""
