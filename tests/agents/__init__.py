"""Deterministic agents: single files without a model, started as processes by tests and journeys."""
