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


def test_a_delivery_is_tried_again_and_nothing_changes(world: World, red: Row, tmp_path: Path) -> None:
    """The same as it was recorded; the same from files; something else once the pull request moved on."""
    before = rows_of(world)
    code, text = tried(world, red.guid)
    assert code == 0, text
    assert "this_change" in text and "starts" in text and "upsert_comment" in text and "0 of" in text
    shown = json.loads(tried(world, red.guid, "--json")[1])
    assert {step["result"] for step in shown["steps"]} == {"same", ""}
    assert "test" in shown["comment"]

    for name, body in (("raw.json", payload(red)), ("page.json", b'{"payload": ' + payload(red) + b"}")):
        (tmp_path / name).write_bytes(body)
        code, text = tried(world, str(tmp_path / name))
        assert (code, "handled" in text, "Recorded" in text) == (0, True, False), text
    assert rows_of(world) == before

    world.github.push(AUTHOR, REPO, "one-page-minimum", {"more.py": "x = 1\n"})
    code, text = tried(world, red.guid)
    assert (code, "differs" in text) == (3, True), text


def test_what_only_reads_cannot_write(world: World) -> None:
    with ReadingClient(world.settings, 1) as client:
        for write in (client.post, client.patch, client.put):
            with pytest.raises(WriteRefused):
                write("/repos/acme/listing/issues", {})
        with pytest.raises(WriteRefused):
            client.acting(client._scope[0], None).delete("/repos/acme/listing")
    assert rehearse.find(world.services, "nobody") is None
