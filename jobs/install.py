"""One runner: from received files to a probed environment, or to the reason why not."""

from app.plugins.installing import install as run
from app.services import services
from app.turns.probing import probe


def install(digest: str) -> str:
    """Install what was received under this digest (D5)."""
    s = services()
    return run(s, digest, lambda spec: probe(s.settings, spec))
