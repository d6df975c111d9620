"""A proof about a run: which change, which tests in which trees, and its counts as rows and evidence."""
