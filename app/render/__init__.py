"""Texts: templates with values put in, safe and within their limits."""

from app.render.comment import render_comment
from app.render.markers import is_ours, marker

__all__ = ["is_ours", "marker", "render_comment"]
