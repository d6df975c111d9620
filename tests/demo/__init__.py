"""`make demo`: a local GitHub, a red check, and Remedy as an operator would run it."""
