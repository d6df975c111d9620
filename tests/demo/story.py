"""The story of the demo: from a red check to a judged fix, and a second run that a person stops and resumes."""

from typing import Any

from tests.demo import shop
from tests.demo.stage import REPO, Stage
from tests.demo.tell import Teller

AUTHOR = "ann"


def fix(edits: list[tuple[str, str, str]], summary: str) -> dict[str, Any]:
    """A move of the scripted agent: these edits and a report about them."""
    changes = [{"path": path, "find": find, "replace": replace} for path, find, replace in edits]
    report = f"{summary}\nCause: total // size + 1 adds a page when the last one is full.\nChange: it rounds up.\n"
    return {"do": "fix", "edits": changes, "summary": report + "Checked: ran the tests.\nOpen: none"}


CORRECTION = (
    "Right for small pages only. 1. listing/pages.py line 6: 101 rows with 100 on a page give 1 page, as adding 0.9 "
    "does not reach the next number; no test asks for it.\nSide: code; the pull request says what it wants."
)
APPROVAL = (
    "listing/pages.py line 6 added a page whenever the last one was full. Rounding up in whole numbers removes that "
    "for every size, and taking at least 1 keeps the page of an empty list.\nSide: code; the tests say what base did."
)
SCENARIO = {
    "agent": [
        fix(shop.FIRST_TRY, "Add 0.9 before cutting off, and keep one page for no rows"),
        fix(shop.SECOND_TRY, "Round up in whole numbers, and keep one page for no rows"),
    ],
    "review": [
        {"when": "Attempt: 1", "do": "correct", "feedback": CORRECTION},
        {"do": "approve", "feedback": APPROVAL},
    ],
    "final": [{"do": "good", "text": "A full last page was counted twice. The division now rounds up."}],
}
RIGHT = fix(shop.SECOND_TRY, "Round up, and keep one page for no rows")
SLOW = {"agent": [[{"do": "sleep", "s": 600}, RIGHT], RIGHT], "final": SCENARIO["final"]}
"""An agent that is at work long enough to be stopped; resumed, it does it at once."""


WORDS = {
    "base": "base",
    "head": "pull request",
    "fixed": "with fix",
    "fixed_without_source": "fix without its source",
    "base_source_with_fixed_tests": "base with the fix's tests",
    "fixed_source_with_original_tests": "fix with the original tests",
}


def grid_of(proof: dict[str, Any]) -> str:
    """The trees of a proof in one line: what the named tests did in each."""
    cells = {cell["tree_name"]: cell for cell in proof["cells"]}
    return ", ".join(f"{WORDS[name]} {_seen(cells[name])}" for name in WORDS if name in cells)


def _seen(cell: dict[str, Any]) -> str:
    word, count = ("pass", cell["passes"]) if cell["passes"] == cell["runs"] else ("fail", cell["fails"])
    return f"{word} {count}/{cell['runs']}"


class Story:
    """Tells what happens by looking from outside: at GitHub, and at Remedy's status API."""

    def __init__(self, stage: Stage, tell: Teller) -> None:
        self.stage, self.tell, self.github = stage, tell, stage.github

    def prepare(self) -> None:
        """A repository with Remedy switched on and a green main branch."""
        self.github.create_repo(REPO, shop.FILES)
        self.github.collaborator(REPO, AUTHOR, "write")
        self.github.push(AUTHOR, REPO, "main", {"README.md": "# Listing\n\nPages of a list.\n"})
        self.stage.wait("CI of main", lambda: self._ci("main") == "success")
        self.tell.step("CI on main", "green; .github/remedy.yml says enabled: true")

    def repair(self) -> tuple[int, int]:
        """The main job, end to end; the numbers of the pull request and of the one that holds the fix."""
        number = self._red_pull("one-page-minimum")
        told = self.stage.wait("a diagnosis", lambda: self._diagnosis(number))
        for failure in told["failures"]:
            self.tell.step("Failing test named", failure["test_id"])
        group = told["groups"][0]
        self.tell.step("Whose fault", f"{group['cause'].replace('_', ' ')}: {group['how_we_know']}")
        issue = self.stage.wait("the issue", lambda: self._diagnosis(number)["groups"][0]["issue"])
        self.tell.step("Issue", f"issue {issue} opened")
        self._turn(number, "plan", 1)
        self.tell.step("Plan", "read and approved by the supervisor")
        self._round(number, 1)
        self.tell.step("Supervisor", f"correct: {CORRECTION.split('. 1.')[0]}", "hold")
        self._round(number, 2)
        self.tell.step("Supervisor", "approve")
        fix_number = self.stage.wait("the pull request of the fix", lambda: self._publication(number).get("pr_number"))
        self.tell.step("Published", f"pull request {fix_number} into branch one-page-minimum")
        self.stage.wait("its CI", lambda: self._publication(number).get("ci") == "green")
        self.tell.step("CI on the fix", "green")
        self.stage.wait("the end of the run", lambda: self._run(number).get("status") == "COMPLETED")
        self._check(number, "action_required")
        return number, int(fix_number)

    def merge(self, number: int, fix_number: int) -> None:
        """The author takes the fix; CI turns green on her own pull request."""
        self.github.merge(AUTHOR, f"{REPO}#{fix_number}")
        self.tell.step("Ann merges it", "into her branch; CI runs there")
        self._check(number, "success", 60)
        closed = self.stage.wait("the issue is closed", lambda: self.github.issues(REPO, "closed"))
        self.tell.step("Issue", f"issue {closed[0].number} closed by evidence")

    def stop_and_resume(self) -> None:
        """A person stops a run and lets it go on."""
        number = self._red_pull("second-try")
        self.stage.wait("the agent at work", lambda: self._run(number).get("stage") == "AGENT")
        self.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy block I will look at it myself first")
        self.tell.step("Ann says", "/remedy block")
        self._check(number, "cancelled")
        self.github.comment(AUTHOR, f"{REPO}#{number}", "/remedy resume keep one page for an empty list")
        self.tell.step("Ann says", "/remedy resume keep one page for an empty list")
        self.stage.wait("the end of the run", lambda: self._run(number).get("status") == "COMPLETED", 120)
        self._check(number, "action_required")

    def last_comment(self, number: int) -> str:
        """Remedy's comment as it stands."""
        mine = [c for c in self.github.comments(f"{REPO}#{number}") if "remedy:status" in c.body]
        return str(mine[-1].body)

    def _red_pull(self, branch: str) -> int:
        self.github.push(AUTHOR, REPO, branch, shop.CHANGE)
        pull = self.github.open_pull(AUTHOR, REPO, branch)
        number = int(pull.thread.number)
        self.tell.step("Ann opens", f"pull request {number}: an empty list gets one page")
        self.stage.wait("a red check", lambda: self._ci(branch) == "failure")
        self.tell.step("CI", "check unit is red", "hold")
        return number

    def _round(self, number: int, n: int) -> None:
        self._turn(number, "work", n)
        self.tell.step(f"Agent, round {n}", self._files(number, n))
        proof = self.stage.wait(f"proof {n}", lambda: self._proof(number, n), 120)
        self.tell.step(f"Proof, round {n}", f"{proof['outcome']}: {grid_of(proof)} ({proof['tier'].lower()} sandbox)")
        self._turn(number, "review", n)

    def _files(self, number: int, n: int) -> str:
        return f"listing/pages.py, attempt {self._run(number)['steps'][0]['attempts']}"

    def _turn(self, number: int, purpose: str, n: int) -> None:
        def done() -> bool:
            turns = [t for t in self._run(number).get("turns", ()) if t["purpose"] == purpose and t["status"] == "DONE"]
            return len(turns) >= n

        self.stage.wait(f"turn {purpose} {n}", done)

    def _proof(self, number: int, n: int) -> dict[str, Any] | None:
        done = [p for p in self._run(number).get("proofs", ()) if p["status"] == "DONE"]
        return done[n - 1] if len(done) >= n else None

    def _check(self, number: int, conclusion: str, seconds: float = 40) -> None:
        def there() -> str:
            ours = self.github.our_checks(f"{REPO}#{number}")
            return str(ours[-1].title) if ours and ours[-1].conclusion == conclusion else ""

        title = self.stage.wait(f"check {conclusion} on pull request {number}", there, seconds)
        self.tell.step("Remedy's check", f"{conclusion.replace('_', ' ')}: {title}")

    def _ci(self, branch: str) -> str | None:
        runs = self.github.checks(REPO, branch, "unit")
        return runs[-1].conclusion if runs else None

    def _diagnosis(self, number: int) -> dict[str, Any]:
        told = self.stage.status(number)["diagnosis"]
        return told if told and told["state"] == "DONE" else {}

    def _run(self, number: int) -> dict[str, Any]:
        return self.stage.status(number)["run"] or {}

    def _publication(self, number: int) -> dict[str, Any]:
        made = self._run(number).get("publications") or [{}]
        return dict(made[-1])
