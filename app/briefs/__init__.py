"""What each turn is told: rows gathered into the inputs of its prompt, and what its answer may cite."""

from app.briefs.case import Case, Outside, open_case
from app.briefs.choose import Brief, brief_for

__all__ = ["Brief", "Case", "Outside", "brief_for", "open_case"]
