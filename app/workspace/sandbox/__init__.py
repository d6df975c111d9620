"""Run code that is not trusted; a backend keeps its measured promises or nothing runs (sandbox.md)."""
