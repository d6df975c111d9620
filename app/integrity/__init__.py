"""Read a fix for tampering with tests, and judge a proof grid: rules without a clock, a process or a network."""
