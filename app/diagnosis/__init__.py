"""From red checks to a run: what failed, whose fault it is, which issue it has, what will be repaired."""
