"""Chromium in front of the real process tree."""
