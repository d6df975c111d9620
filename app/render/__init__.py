"""Texts: templates with values put in, safe and within their limits."""

from app.render.check import Action, Annotation, CheckBody, render_check
from app.render.comment import render_comment
from app.render.issue import Closing, Reopening, render_closing, render_issue, render_reopening
from app.render.links import Links, links_of
from app.render.markers import is_ours, marker
from app.render.prompts.prompt import Prompt, render_prompt, with_nonce
from app.render.publish import Commit, render_commit, render_final_summary, render_pull
from app.render.reply import (
    Denied,
    DryRun,
    Help,
    HelpRow,
    Mistake,
    Nothing,
    NotNow,
    Unknown,
    nearest_verb,
    render_doubled,
    render_dry_run,
    render_hand_over,
    render_hand_over_done,
    render_reply,
)
from app.render.text import clean, code, fence, prose

__all__ = [
    "Action",
    "Annotation",
    "CheckBody",
    "Closing",
    "Commit",
    "Denied",
    "DryRun",
    "Help",
    "HelpRow",
    "Links",
    "Mistake",
    "NotNow",
    "Nothing",
    "Prompt",
    "Reopening",
    "Unknown",
    "clean",
    "code",
    "fence",
    "is_ours",
    "links_of",
    "marker",
    "nearest_verb",
    "prose",
    "render_check",
    "render_closing",
    "render_comment",
    "render_commit",
    "render_doubled",
    "render_dry_run",
    "render_final_summary",
    "render_hand_over",
    "render_hand_over_done",
    "render_issue",
    "render_prompt",
    "render_pull",
    "render_reopening",
    "render_reply",
    "with_nonce",
]
