"""A person's whole way in a real browser: set-up, install, red check, run page live, block, resume, green (issue 8)."""

import shutil
from collections.abc import Iterator

import pytest

from tests.browser.eyes import CHROMIUM, Eyes, eyes
from tests.browser.newcomer import SCENARIO, Newcomer
from tests.demo.stage import REPO
from tests.journeys.world import AUTHOR

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium here: apt-get install chromium"),
    pytest.mark.filterwarnings("default"),
]
LONG_MS = 120_000


@pytest.fixture
def place() -> Iterator[Newcomer]:
    made = Newcomer(SCENARIO)
    made.open()
    made.prepare()
    yield made
    complaints = made.github.complaints()
    made.close()
    shutil.rmtree(made.folder, ignore_errors=True)
    assert complaints == []


def test_ux_l_from_an_empty_machine_to_a_green_pull_request(place: Newcomer) -> None:
    """Also UX-A3, UX-H2, UX-H4, UX-H5: axe-core finds nothing on any page, and the console says nothing."""
    with eyes(place.url) as see:
        faults = set_up(place, see)
        faults += install(place, see)
        number = red_pull(place)
        faults += watch(place, see, number)
        for path in ("/", "/flaky", "/runners", "/doctor", "/help", "/setup"):
            see.go(path)
            faults += see.faults()
        assert faults == []
        assert see.complaints == []
    with eyes(place.url) as stranger:
        stranger.go("/")
        assert stranger.page.url.startswith(f"{place.url}/signin?return_to=")
        assert stranger.faults() == []
        stranger.go("/none")
        assert stranger.faults() == []


def set_up(place: Newcomer, see: Eyes) -> list[str]:
    """Steps 1 and the sign-in."""
    page = see.page
    see.go(place.link())
    faults = see.faults()
    page.click("text=Begin")
    page.wait_for_url("**/setup")
    faults += see.faults()
    page.click("text=Create the GitHub App")
    page.click("button:has-text('Create GitHub App')")
    page.wait_for_url(f"{place.url}/setup")
    faults += see.faults()
    page.click("text=Sign in with GitHub")
    page.select_option("select[name=user]", AUTHOR)
    page.click("button:has-text('Authorize')")
    page.wait_for_url(f"{place.url}/setup")
    faults += see.faults()
    apps = place.github.world.state.apps
    place.github.world.app_id = max(apps)
    return faults


def install(place: Newcomer, see: Eyes) -> list[str]:
    """Step 2, the ping of step 3, and the proposal, which Ann merges."""
    page = see.page
    page.click("text=Choose on GitHub")
    page.click(f"button[value='{REPO}']")
    page.wait_for_url(f"{place.url}/setup")
    place.wait("workers", lambda: "the App is registered" in place.log.read_text())

    def proposed() -> bool:
        page.reload()
        return "merge pull request" in page.content() and "well signed" in page.content()

    place.wait("the proposal of the policy file", proposed, 60)
    faults = see.faults()
    (pull,) = place.github.pulls(REPO)
    place.github.merge(AUTHOR, pull)
    place.wait("CI of main", lambda: place.ci("main") == "success")
    return faults


def red_pull(place: Newcomer) -> int:
    return place.red_pull()


def watch(place: Newcomer, see: Eyes, number: int) -> list[str]:
    """The run page alone, never loaded again by hand, from the agent's work to the fix."""
    page = see.page
    place.wait("a run", lambda: _run_path(see), 60)
    page.click("table.runs tbody th a")
    page.wait_for_selector("#live[data-s=on]")
    page.wait_for_selector("#stages [aria-current]:has-text('Agent')", timeout=LONG_MS)
    faults = see.faults()
    page.click("button:has-text('Block')")
    page.wait_for_selector("#state :text('stopped by a person')", timeout=LONG_MS)
    faults += see.faults()
    page.fill("input[name=hint]", "round up")
    page.click("button:has-text('Resume')")
    page.wait_for_selector("#live[data-s=on]")
    page.wait_for_selector("#proof :text('as expected')", timeout=LONG_MS)
    page.wait_for_selector("#fact:has-text('Fix ready')", timeout=LONG_MS)
    page.wait_for_selector("#live:has-text('finished')", timeout=LONG_MS)
    faults += see.faults()
    see.picture("run")
    see.go(f"{place.github.web_url}/{REPO}/pull/{number}")
    see.picture("pull-request")
    page.go_back()
    fix = place.github.pulls(REPO)[-1]
    place.github.merge(AUTHOR, fix)
    check = place.wait("green", lambda: _green(place, number), 120)
    page.reload()
    assert "Fixed" in page.inner_text("#fact"), check
    return [*faults, *see.faults()]


def _run_path(see: Eyes) -> str:
    see.go("/")
    found = see.page.query_selector("table.runs tbody th a")
    return "" if found is None else str(found.get_attribute("href"))


def _green(place: Newcomer, number: int) -> str:
    checks = place.github.our_checks(f"{REPO}#{number}")
    return checks[-1].title or "" if checks and checks[-1].conclusion == "success" else ""
