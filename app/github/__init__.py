"""Speak to GitHub: one client, small readers and writers, errors in words."""
