"""Runners as people handle them: found, installed step by step, listed with the reason for what is broken."""
