"""The pages of a run, without script: what a person reads and does, and the same as data (ux.md, section 11)."""

from collections.abc import Callable

import pytest

from app.ledger import runs
from app.services import use
from tests.journeys.pages.conftest import Stopped
from tests.journeys.pages.visitor import Visitor, signed_in
from tests.journeys.steps import a_red_pull, bodies, check_of
from tests.journeys.world import AUTHOR, REPO, World


def test_ux_p1_a_run_is_read_blocked_and_resumed_on_its_page_until_it_is_green(a_world: Callable[..., World]) -> None:
    """Also UX-P9, UX-H3, UX-S3: a press is a command like any other, and the page says what the comment says."""
    world = a_world(pages=True)
    number = a_red_pull(world)
    world.step_to("prove")
    run = world.run_of(number)
    assert run is not None
    path = f"/runs/{run.id}"
    ann = signed_in(world, AUTHOR)

    page = ann.get(path)
    assert page.status_code == 200
    for words in (
        "test_last_page_is_full",
        "1 failing test caused by this change",
        "Proving the fix",
        "listing/pages.py",
    ):
        assert words in page.text
    assert '<button class="danger" name="verb" value="block">' in page.text
    assert ann.get("/").text.count(path) == 1

    assert ann.press(path, "block").headers["location"] == path
    assert "being done" in ann.get(path).text
    world.step("intake")
    page = ann.get(path)
    assert "asked by ann here" in page.text
    assert 'value="resume"' in page.text
    assert ann.get("/?state=waiting").text.count(path) == 1

    ann.press(path, "resume", hint="round up")
    world.step_until_quiet()
    page = ann.get(path)
    assert "Fix ready" in page.text
    assert "as expected" in page.text
    assert "data-live" not in page.text, "what has ended is not live"
    stages = page.text.partition('id="stages"')[2].partition("</ol>")[0]
    for note in ("round 1 of 4", "4 of 4 trees", "stacked pr", "green", "fixed"):
        assert f">{note}<" in stages, stages
    assert stages.count(">approved<") == 2, "the plan and the fix"
    (comment,) = bodies(world, number)
    assert f"]({world.settings.url}{path})" in comment, "the comment links its page"
    assert check_of(world, number).details_url == f"{world.settings.url}{path}"

    stream = ann.get(f"{path}/events")  # UX-H4: all parts once, then the end
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.text.rstrip().endswith("event: end\ndata: {}")
    for part in ("state", "next", "timeline", "proof", "talk"):
        assert f'"id": "{part}"' in stream.text
    assert "<form" not in stream.text and "<button" not in stream.text, "UX-H5"


def test_the_same_facts_are_there_as_data_and_as_a_patch(stopped: Stopped) -> None:
    world, path = stopped.world, stopped.path
    ann = signed_in(world, AUTHOR)

    told = ann.get(f"{path}.json").json()
    assert (told["run"]["run_id"], told["run"]["stage"]) == (path.removeprefix("/runs/"), "PROVE")
    assert ann.get(path, accept="application/json").json() == told
    assert [run["repository"] for run in ann.get("/runs.json").json()["runs"]] == [REPO]
    assert ann.get("/runs.json?repo=acme/none").json() == {"runs": []}

    patch = ann.get(f"{path}/fix.patch")
    assert patch.headers["content-type"] == "text/plain; charset=utf-8"
    assert patch.text.startswith("diff --git a/listing/pages.py")
    assert ann.get(f"{path}/rounds/1.patch").text.startswith("Round 1 of run")
    assert ann.get(f"{path}/rounds/2.patch").status_code == 404
    kept = told["evidence"][0]["id"]
    assert "test_last_page_is_full" in ann.get(f"{path}/evidence/{kept}").text


def test_a_press_of_a_reader_is_refused_and_changes_nothing(stopped: Stopped) -> None:
    """UX-P9, S38: the same live permission as the command needs."""
    world, path = stopped.world, stopped.path
    use(world.services)  # another test's world may have come and gone
    before = state_of(world, path)
    eve = signed_in(world, "eve")

    assert eve.press(path, "block").status_code == 303
    while world.step("intake"):
        pass

    assert "refused. It needs write access" in eve.get(path).text
    assert state_of(world, path) == before


def state_of(world: World, path: str) -> tuple[str, int]:
    with world.services.read() as conn:
        run = runs.get(conn, path.removeprefix("/runs/"))
    return run.status, run.version


def test_ux_p4_an_open_stream_ends_when_the_person_signs_out(stopped: Stopped, monkeypatch: pytest.MonkeyPatch) -> None:
    world, path = stopped.world, stopped.path
    ann = signed_in(world, AUTHOR)
    monkeypatch.setattr("app.web.pages.live.LOOK_S", 0.01)
    monkeypatch.setattr("app.web.pages.live.ASK_AGAIN_S", 0.0)
    asked = []

    def gone(*_: object) -> bool:
        asked.append(1)
        return len(asked) < 3

    monkeypatch.setattr("app.web.pages.live.still_there", gone)
    stream = ann.get(f"{path}/events")
    assert "event: part" in stream.text
    assert "event: end" not in stream.text
    assert len(asked) == 3


def test_help_and_sign_in_are_open_and_the_rest_is_not(stopped: Stopped) -> None:
    """UX-P1, UX-P2, C35."""
    world, path = stopped.world, stopped.path
    nobody = Visitor(world)
    for open_ in ("/help", "/signin", "/static/remedy.css", "/static/live.js", "/static/icon.svg"):
        assert nobody.get(open_).status_code == 200, open_
    for shut in ("/", "/flaky", "/runners", "/doctor", path, f"{path}/fix.patch"):
        answer = nobody.get(shut)
        assert (answer.status_code, answer.headers["location"][:18]) == (303, "/signin?return_to="), shut
    for data in ("/runs.json", "/flaky.json", "/doctor.json", f"{path}.json", f"{path}/events"):
        assert nobody.get(data).status_code == 401, data


def test_ux_x1_help_lists_the_commands_of_the_table(stopped: Stopped) -> None:
    from app.commands.table import COMMANDS

    page = Visitor(stopped.world).get("/help").text
    assert all(command.line in page.replace("&#39;", "'") for command in COMMANDS)
