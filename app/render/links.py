"""Links of our texts: to this installation's GitHub and to our own server only (UX-E5)."""

from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from app.runs.view import ScopeView


@dataclass(frozen=True)
class Links:
    """`web` is GitHub's web address, `home` our own, both without a slash at the end; `repository` is owner/name.

    Without `pages` this server has no page of a run, and nothing links to one.
    """

    web: str
    home: str
    repository: str
    run_id: str = ""
    pages: bool = True

    def link(self, words: str, address: str) -> Markup:
        return Markup(f"[{words}]({_quoted(address, _SAFE)})")

    def issue(self, number: int, first: bool = False) -> Markup:
        """`[issue 321](...)`; never a bare reference, so no closing word can act on it (UX-E4)."""
        return self.link(f"{'Issue' if first else 'issue'} {number}", f"{self._repo}/issues/{number}")

    def pull(self, number: int, first: bool = False) -> Markup:
        return self.link(f"{'Pull' if first else 'pull'} request {number}", f"{self._repo}/pull/{number}")

    def comment(self, words: str, number: int, comment_id: int) -> Markup:
        return self.link(words, f"{self._repo}/pull/{number}#issuecomment-{comment_id}")

    def checks(self, number: int) -> Markup:
        return self.link("Remedy check", f"{self._repo}/pull/{number}/checks")

    def blob(self, words: str, ref: str, path: str, line: int) -> Markup:
        """A line of a file at `ref`; the words alone where the address would be too long to show."""
        at = f"#L{line}" if line else ""
        address = f"{self._repo}/blob/{_quoted(ref)}/{_quoted(path)}{at}"
        return Markup(f"[{words}]({address})") if len(address) <= _LONGEST else Markup(words)

    def run(self, words: str = "") -> Markup:
        if not self.pages:
            return Markup(f"ledger (run `{self.run_id}`)" if words else f"Run `{self.run_id}`")
        return self.link(words or f"Run {self.run_id}", f"{self.home}/runs/{self.run_id}")

    def live(self) -> Markup | None:
        """Where the run can be watched."""
        return self.run("Watch it live") if self.pages else None

    def below_run(self, words: str, path: str) -> Markup:
        if not self.pages:
            return Markup(f"{words} in the ledger (run `{self.run_id}`)")
        return self.link(words, f"{self.home}/runs/{self.run_id}{path}")

    def settings(self, words: str, address: str) -> Markup:
        """A page of this GitHub that it named itself; the words alone for any other address."""
        return self.link(words, address) if address.startswith(f"{self.web}/") else Markup(words)

    def help(self) -> Markup:
        if not self.pages:
            return Markup("commands: `/remedy help`")
        return self.link("commands", f"{self.home}/help")

    def schema(self) -> Markup:
        """What the policy file may hold, for people and their editors; our own server has it."""
        return self.link("schema of the file", f"{self.home}/remedy.schema.json")

    def log(self, address: str | None) -> Markup | None:
        """The job's log on GitHub, if the address is one of this GitHub."""
        if address is None or not address.startswith(f"{self.web}/"):
            return None
        return self.link("on GitHub", address)

    @property
    def _repo(self) -> str:
        return f"{self.web}/{_quoted(self.repository)}"


def _quoted(text: str, safe: str = "/") -> str:
    return quote(text, safe=safe, errors="replace")


_LONGEST = 300
_SAFE = ":/#?=&%+.-_~"


def links_of(view: ScopeView) -> Links:
    """The links of one scope's texts."""
    run_id = view.run.run_id if view.run else ""
    return Links(view.web_url.rstrip("/"), view.public_url.rstrip("/"), view.repository, run_id, view.pages)
