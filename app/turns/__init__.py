"""One turn of an agent or a supervisor: where it works, how it is driven, what is taken out of it."""
