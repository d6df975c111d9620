"""A model server without a model: four wire formats, replies by script, faults on demand (runners.md, 12.2)."""
