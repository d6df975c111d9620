"""`remedy replay`: a delivery once more, on a copy; GitHub and the ledger stay as they are."""

import json
from pathlib import Path

import pytest
from sqlalchemy import func, select
from typer.testing import CliRunner

from app.cli import rehearse, remedy
from app.github.reading import ReadingClient, WriteRefused
from app.ledger.deliveries import payload
from app.ledger.rows import Row
from app.ledger.schema import deliveries, metadata
from app.services import use
from tests.demo import shop
from tests.journeys.world import AUTHOR, REPO, World


@pytest.fixture
def red(world: World) -> Row:
    """The delivery of Ann's red check, after everything that it led to."""
    world.github.push(AUTHOR, REPO, "one-page-minimum", shop.CHANGE)
    world.github.open_pull(AUTHOR, REPO, "one-page-minimum")
    world.github.run_ci()
    world.step_to("turn")
    checks = select(deliveries).where(deliveries.c.event == "check_run", deliveries.c.state == "HANDLED")
    with world.services.read() as conn:
        return conn.execute(checks.order_by(deliveries.c.received_at)).all()[-1]


def rows_of(world: World) -> dict[str, int]:
    with world.services.read() as conn:
        return {t.name: conn.execute(select(func.count()).select_from(t)).scalar_one() for t in metadata.sorted_tables}


def tried(world: World, *args: str) -> tuple[int, str]:
    """The command, with the settings of this world instead of the environment's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.cli.replay.read_settings", lambda: world.settings)
        patch.setattr("app.services.utc_ms", world.now)
        patch.setattr("app.services.make", lambda settings: world.services)
        done = CliRunner().invoke(remedy, ["replay", *args])
    use(world.services)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def test_a_recorded_delivery_leads_to_the_same_and_changes_nothing(world: World, red: Row) -> None:
    before = rows_of(world)
    code, text = tried(world, red.guid)
    assert code == 0, text
    assert "this_change" in text and "starts" in text and "upsert_comment" in text and "0 of" in text
    assert rows_of(world) == before
    shown = json.loads(tried(world, red.guid, "--json")[1])
    assert {step["result"] for step in shown["steps"]} == {"same", ""}
    assert "test" in shown["comment"]
    world.step_until_quiet()
    assert world.run_of(1) is not None


def test_a_delivery_that_would_lead_elsewhere_now_differs(world: World, red: Row) -> None:
    world.github.push(AUTHOR, REPO, "one-page-minimum", {"more.py": "x = 1\n"})
    code, text = tried(world, red.guid)
    assert code == 3, text
    assert "differs" in text


def test_a_body_in_a_file_is_tried_too(world: World, red: Row, tmp_path: Path) -> None:
    for name, body in (("raw.json", payload(red)), ("page.json", b'{"payload": ' + payload(red) + b"}")):
        (tmp_path / name).write_bytes(body)
        code, text = tried(world, str(tmp_path / name))
        assert (code, "handled" in text, "Recorded" in text) == (0, True, False), text


def test_what_only_reads_cannot_write(world: World) -> None:
    with ReadingClient(world.settings, 1) as client:
        for write in (client.post, client.patch, client.put):
            with pytest.raises(WriteRefused):
                write("/repos/acme/listing/issues", {})
        with pytest.raises(WriteRefused):
            client.acting(client._scope[0], None).delete("/repos/acme/listing")
    assert rehearse.find(world.services, "nobody") is None
