"""The pull request that proposes `.github/remedy.yml`, and the file itself with every default explained."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from app.render.engine import fill
from app.render.space import tidy


def render_policy_file(keys: Sequence[Mapping[str, str]], home: str) -> str:
    """The file; `keys` have name, text, choices and default, and every word of them is ours."""
    made = [{name: Markup(value) for name, value in key.items()} for key in keys]
    return fill("pulls/policy.yml.j2", {"keys": made, "home": Markup(home)})


def render_policy_pull(home: str) -> tuple[str, str]:
    """Title and body."""
    links = Markup(f"[Commands and help]({home}/help)") if home.startswith("https://") else Markup()
    return fill("pulls/policy_title.j2", {}).strip(), tidy(fill("pulls/policy_body.md.j2", {"links": links}))
