"""The receiver: what it believes, what it keeps and what it answers (IT-1 to IT-4, S18, ST-W1)."""

import hmac
import json
from hashlib import sha1

import pytest
from sqlalchemy import Engine, update
from starlette.testclient import TestClient

from app.errors import UserError
from app.ledger import deliveries
from app.ledger.engine import write
from app.ledger.schema import deliveries as table
from app.ledger.words import DeliveryState
from app.main import create_app
from app.settings import Settings

from .conftest import NOW, SECRET, Sender, check_run, sign


def test_it_1_a_signed_delivery_is_on_disk_when_202_is_answered(github: Sender) -> None:
    """Also F-W1 and ST-Q1: there is no Redis and no GitHub in this test."""
    body = json.dumps(check_run()).encode()
    answer = github.send(body)

    assert (answer.status_code, answer.json()) == (202, {"delivery": "g-1", "result": "stored"})
    (row,) = github.rows()
    assert (row.guid, row.event, row.action, row.state) == ("g-1", "check_run", "completed", "RECEIVED")
    assert (row.installation_id, row.repository_id, row.received_at) == (4711, 77, NOW)
    assert deliveries.payload(row) == body


class TestForgery:
    """S18: nothing is believed and no row is left."""

    BODY = json.dumps(check_run()).encode()

    @pytest.mark.parametrize(
        ("why", "signature"),
        [
            ("another secret", sign(BODY, "another")),
            ("another body", sign(BODY + b" ")),
            ("a re-serialised body", sign(json.dumps(check_run(), indent=1).encode())),
            ("empty", ""),
            ("no prefix", sign(BODY).removeprefix("sha256=")),
            ("upper case", sign(BODY).upper()),
            ("not ascii", "sha256=ä".encode()),
        ],
    )
    def test_a_wrong_signature_is_401(self, github: Sender, why: str, signature: str | bytes) -> None:
        answer = github.send(self.BODY, x_hub_signature_256=signature)
        assert answer.status_code == 401, why
        assert not github.rows()

    def test_sha1_alone_is_401(self, github: Sender) -> None:
        old = "sha1=" + hmac.new(SECRET.encode(), self.BODY, sha1).hexdigest()
        answer = github.send(self.BODY, x_hub_signature_256="", x_hub_signature=old)
        assert answer.status_code == 401
        assert not github.rows()

    def test_a_replay_with_another_body_is_401(self, github: Sender) -> None:
        github.send(self.BODY)
        answer = github.send(json.dumps(check_run(name="evil")).encode(), x_hub_signature_256=sign(self.BODY))
        assert answer.status_code == 401
        assert len(github.rows()) == 1

    def test_c35_an_unknown_event_is_not_believed_either(self, github: Sender) -> None:
        assert github.send(self.BODY, event="star", x_hub_signature_256="").status_code == 401


class TestRepeats:
    """IT-2 and IT-3."""

    def test_a_repeated_delivery_changes_nothing(self, github: Sender) -> None:
        github.send(check_run())
        before = github.rows()
        github.clock[0] += 60_000
        answer = github.send(check_run())

        assert (answer.status_code, answer.json()["result"]) == (202, "duplicate")
        assert github.rows() == before

    def test_the_same_event_under_a_new_guid_is_known(self, github: Sender) -> None:
        github.send(check_run(), guid="g-1")
        answer = github.send(check_run(), guid="g-2")

        assert answer.json()["result"] == "duplicate"
        assert [(row.guid, row.state) for row in github.rows()] == [("g-1", "RECEIVED"), ("g-2", "IGNORED")]

    def test_a_failed_one_is_tried_again(self, github: Sender) -> None:
        github.send(check_run())
        with write(github.engine) as conn:
            conn.execute(update(table).values(state=DeliveryState.FAILED))
        answer = github.send(check_run())

        assert answer.json()["result"] == "again"
        (row,) = github.rows()
        assert row.state == "RECEIVED"


class TestWhatDoesNotConcernUs:
    """IT-4, IT-6, decisions.md 58: 202, no row."""

    @pytest.mark.parametrize("event", ["star", "workflow_job", "push", "ping", "", "check_run\x0b"])
    def test_an_unknown_event_is_ignored(self, github: Sender, event: str) -> None:
        answer = github.send({"action": "created"}, event=event)
        assert (answer.status_code, answer.json()["result"]) == (202, "ignored")
        assert not github.rows()

    def test_an_unknown_action_is_ignored(self, github: Sender) -> None:
        answer = github.send({**check_run(), "action": "invented"})
        assert (answer.status_code, answer.json()["result"]) == (202, "ignored")
        assert not github.rows()

    @pytest.mark.parametrize("conclusion", ["success", "neutral", "skipped", "cancelled"])
    def test_a2_a_check_that_is_not_red_leaves_no_row(self, github: Sender, conclusion: str) -> None:
        answer = github.send(check_run(conclusion=conclusion))
        assert (answer.status_code, answer.json()["result"]) == (202, "ignored")
        assert not github.rows()


class TestUnreadable:
    """IT-4: kept with the reason, counted, visible; never dropped in silence."""

    def test_a_body_that_does_not_fit_the_model_is_kept(self, github: Sender) -> None:
        body = {**check_run(), "check_run": {"id": "not a number"}}
        answer = github.send(body)

        assert (answer.status_code, answer.json()["result"]) == (202, "failed")
        (row,) = github.rows()
        assert row.state == "FAILED"
        assert "check_run" in row.error
        assert (row.installation_id, row.action) == (4711, "completed")
        assert json.loads(deliveries.payload(row)) == body

    def test_a21_unknown_fields_and_words_are_no_reason(self, github: Sender) -> None:
        answer = github.send({**check_run(status="invented", shoe_size=46), "weather": {"rain": True}})
        assert answer.json()["result"] == "stored"

    @pytest.mark.parametrize("body", [b"not json", b"", b"{", b"[" * 5000 + b"]" * 5000, b'{"action": "\xff"}'])
    def test_s35_what_is_not_json_is_kept_and_answered_400(self, github: Sender, body: bytes) -> None:
        assert github.send(body).status_code == 400
        (row,) = github.rows()
        assert row.state == "FAILED"
        assert row.error

    def test_it_2_sent_again_it_is_read_again(self, github: Sender) -> None:
        """After an update of Remedy the same body may be readable."""
        github.send({**check_run(), "check_run": None})
        github.send({**check_run(), "check_run": None})
        (row,) = github.rows()
        assert (row.state, row.tries) == ("FAILED", 2)
        assert github.send(check_run()).json()["result"] == "again"


class TestTheDoor:
    @pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "", "application/jsonp"])
    def test_f_w11_another_content_type_is_415(self, github: Sender, kind: str) -> None:
        assert github.send(check_run(), content_type=kind).status_code == 415
        assert not github.rows()

    def test_a_charset_is_no_other_content_type(self, github: Sender) -> None:
        assert github.send(check_run(), content_type="application/json; charset=utf-8").status_code == 202

    @pytest.mark.parametrize("guid", ["", "a" * 65, "../../etc", "a b", "x;y"])
    def test_a_guid_that_is_none_is_400(self, github: Sender, guid: str) -> None:
        assert github.send(check_run(), guid=guid).status_code == 400
        assert not github.rows()

    def test_other_methods_and_paths(self, github: Sender) -> None:
        assert github.client.get("/webhook").status_code == 405
        assert github.client.post("/webhooks").status_code == 404

    def test_f_w10_a_missing_secret_refuses_to_start(self, settings: Settings) -> None:
        with pytest.raises(UserError, match="REMEDY_WEBHOOK_SECRET"):
            create_app(settings.model_copy(update={"webhook_secret": type(settings.webhook_secret)("")}))


def test_db_7_a_payload_is_stored_without_secrets(github: Sender, engine: Engine) -> None:
    """Also RD6: what stands in a branch name or a comment may be somebody's token."""
    token = "ghp_" + "a1B2" * 9
    github.send(check_run(name=f"unit {token} {SECRET}"))
    (row,) = github.rows()
    stored = deliveries.payload(row)
    assert token.encode() not in stored
    assert SECRET.encode() not in stored
    assert b"[redacted: github token]" in stored
    json.loads(stored)


def test_a_database_that_is_away_is_503_and_nothing_is_lost(settings: Settings) -> None:
    """CR-1: GitHub gets no 2xx, so the sweep asks for the delivery again."""
    with TestClient(create_app(settings)) as client:  # never migrated
        sender = Sender(client, None)  # type: ignore[arg-type]
        assert sender.send(check_run()).status_code == 503
        assert client.get("/healthz").status_code == 200
