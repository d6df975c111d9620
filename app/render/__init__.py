"""Texts: templates with values put in, safe and within their limits."""
