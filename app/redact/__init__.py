"""Secrets out of any text, before it is stored and again at every sink; text is never cut before this (RD4)."""

from app.redact.redactor import Redactor, Stream

__all__ = ["Redactor", "Stream"]
