"""The sticky comment of a scope: one state in, one text out."""

from markupsafe import Markup

from app.redact import Redactor
from app.render.engine import fill
from app.render.markers import marker
from app.render.patch import take_away
from app.render.scope import redacted, values_of
from app.render.space import Space, fitted, tidy
from app.runs.projection import project
from app.runs.view import ScopeView

PATTERNS = Redactor(())


def render_comment(view: ScopeView, redactor: Redactor = PATTERNS) -> str:
    """The whole sticky comment, marker first; the same view gives the same bytes (UX-C17).

    Shortened in the order of ux.md, section 2. Raises ValueError for a scope about which nothing may be written.
    """
    shown = project(view)
    if shown is None:
        raise ValueError("nothing may be written about this scope")
    patch = take_away(view)
    if patch is not None and redactor.text(str(patch)) != patch:
        patch = None
    safe = redacted(view, redactor)

    def render(space: Space) -> str:
        values = {**values_of(safe, shown, space, patch), "marker": Markup(marker("status", view.scope_key))}
        return tidy(
            fill(f"comments/{shown.state}.md.j2", values | {"marker": Markup(marker("status", view.scope_key))})
        )

    return redactor.text(fitted(render))
