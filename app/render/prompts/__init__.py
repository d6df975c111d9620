"""Prompts: their inputs, their budgets, their versions."""

from app.render.prompts.prompt import Prompt, render_prompt, version, with_nonce

__all__ = ["Prompt", "render_prompt", "version", "with_nonce"]
