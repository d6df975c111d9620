"""The real process tree as a stranger starts it: no App in the environment, one link in the terminal."""

import re

from tests.demo import shop
from tests.demo.stage import REPO
from tests.journeys import quick
from tests.journeys.tree import Tree
from tests.journeys.world import AUTHOR, fix

SCENARIO = {"agent": [[{"do": "sleep", "s": 6}, fix(shop.SECOND_TRY)]]}
"""At work long enough to be watched and blocked."""
_OWN = ("APP_ID", "APP_SLUG", "PRIVATE_KEY_FILE", "WEBHOOK_SECRET")
_POLICY = ".github/remedy.yml"


class Newcomer(Tree):
    """`remedy up` before anything is set up."""

    def _environment(self) -> dict[str, str]:
        own = {f"REMEDY_{name}" for name in _OWN}
        kept = {name: value for name, value in super()._environment().items() if name not in own}
        return {**kept, "REMEDY_ONBOARDING": "true"}

    def link(self) -> str:
        """The one-time link, as it stands in the terminal."""

        def printed() -> str:
            found = re.search(r"http\S+/setup\?link=\S+", self.log.read_text(errors="replace"))
            return found[0] if found else ""

        return self.wait("the link of the set-up", printed)

    def prepare(self) -> None:
        """A repository that never heard of Remedy."""
        files = {name: text for name, text in quick.FILES.items() if name != _POLICY}
        self.github.create_repo(REPO, files, install=False)
        self.github.collaborator(REPO, AUTHOR, "admin")
