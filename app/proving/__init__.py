"""A proof: the named tests run in fresh trees, their counts kept as cells, the grid as evidence."""
