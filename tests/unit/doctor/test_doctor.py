"""The rows of the doctor that need no GitHub, and how they are put together (W117, IT-4, S41, S47)."""

import shutil
import time
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.doctor import Found, counts, examine, github, runners, server
from app.doctor import table as table_of
from app.errors import UserError
from app.ledger import deliveries
from app.ledger.deliveries import Delivery
from app.ledger.engine import open_engine, write
from app.settings import Settings
from tests.agents.install import install_qa
from tests.databases import a_ledger
from tests.redis_server import redis_server

SECRET = "a-webhook-secret-for-tests"
NOBODY = "http://127.0.0.1:9"


def settings(data: Path, **values: Any) -> Settings:
    return Settings.model_validate({"data": data, "webhook_secret": SECRET, **values})


def ledger(data: Path) -> Settings:
    made = settings(data)
    a_ledger(made.database).dispose()
    return made


def a_delivery(made: Settings, at: int) -> None:
    engine = open_engine(made.database)
    with write(engine) as conn:
        deliveries.store(conn, Delivery("g-9", "check_run", "completed", 1, 2, None, b"{}"), at)
    engine.dispose()


class TestTogether:
    def test_every_row_has_an_answer_and_a_cure_where_it_failed(self, tmp_path: Path) -> None:
        rows = examine(settings(tmp_path, github={"api_url": NOBODY}), 30)
        assert [(row.group, row.check) for row in rows] == [(g, n) for g, rows in table_of.CHECKS.items() for n in rows]
        assert all(row.found.cure for row in rows if row.found.level == "failed")
        assert sum(counts(rows).values()) == len(rows)

    def test_ux_w1_a_check_that_hangs_is_not_checked(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def hang(_settings: Settings) -> Found:
            time.sleep(3)
            return Found("passed", "late")

        monkeypatch.setattr(table_of, "CHECKS", {"A": {"slow": hang, "quick": lambda s: Found("passed", "here")}})
        slow, quick = examine(settings(tmp_path), 0.3)
        assert (slow.found.level, quick.found.level) == ("not checked", "passed")

    def test_s47_no_text_of_a_library_shows_a_secret(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(_settings: Settings) -> Found:
            raise ValueError(f"cannot use {SECRET}\nat all")

        def said(_settings: Settings) -> Found:
            raise UserError("Set it.")

        monkeypatch.setattr(table_of, "CHECKS", {"A": {"one": broken, "two": said}})
        one, two = examine(settings(tmp_path))
        assert (one.found.level, SECRET in one.found.details, "\n" in one.found.details) == ("failed", False, False)
        assert (two.found.level, two.found.details) == ("failed", "Set it.")


class TestServer:
    def test_it_4_deliveries_that_failed_are_shown(self, tmp_path: Path) -> None:
        made = ledger(tmp_path)
        assert server.deliveries(made).level == "passed"
        a_delivery(made, 5)
        engine = open_engine(made.database)
        with write(engine) as conn:
            deliveries.failed(conn, "g-9", "check_run.id: not a number", 6, None)
        engine.dispose()
        found = server.deliveries(made)
        assert found.level == "warning"
        assert found.details == "1 of 1 failed; the newest is g-9 (check_run): check_run.id: not a number"

    def test_the_database_is_there_at_this_version_and_writable(self, tmp_path: Path) -> None:
        assert server.database(settings(tmp_path / "new")).level == "failed"
        assert server.database(ledger(tmp_path)).level == "passed"

    def test_work_that_waits_too_long_is_a_warning(self, tmp_path: Path) -> None:
        made, now = ledger(tmp_path), time.time_ns() // 1_000_000
        assert server.queue(made).details == "nothing waits"
        a_delivery(made, now - 2 * server.LATE_MS)
        found = server.queue(made)
        assert (found.level, "1 waiting" in found.details, "(intake)" in found.details) == ("warning", True, True)

    def test_a_queue_without_a_worker_fails(self, tmp_path: Path) -> None:
        assert server.workers(settings(tmp_path, REDIS_URL="redis://127.0.0.1:9/0")).level == "not checked"
        with redis_server() as redis:
            found = server.workers(settings(tmp_path, REDIS_URL=redis.url))
        assert (found.level, found.details) == ("failed", "0 quick, 0 long")
        assert "remedy worker quick" in found.cure

    @pytest.mark.parametrize(("free_gb", "level"), [(0.5, "failed"), (5, "warning"), (50, "passed")])
    def test_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_gb: float, level: str) -> None:
        usage = namedtuple("usage", "total used free")
        monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(100 * 1000**3, 0, int(free_gb * 1000**3)))
        assert server.disk(settings(tmp_path)).level == level

    def test_s41_a_far_redis_without_a_password_is_a_warning(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # There is no far Redis here; that it answers is not what this row is about.
        monkeypatch.setattr(server, "is_reachable", lambda settings: True)
        for url, level in {
            "redis://redis.example:6379/0": "warning",
            "redis://:pw@redis.example:6379/0": "passed",
            "redis://127.0.0.1:6379/0": "passed",
            "unix:///run/redis.sock": "passed",
        }.items():
            assert server.redis(settings(tmp_path, REDIS_URL=url)).level == level

    def test_a_redis_that_does_not_answer_fails(self, tmp_path: Path) -> None:
        assert server.redis(settings(tmp_path, REDIS_URL="redis://127.0.0.1:9/0")).level == "failed"

    def test_a_misspelt_variable_is_named_with_its_neighbour(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("REMEDY_WEBHOOK_SECRETT", "x")
        monkeypatch.setenv("REMEDY_TIMES__LEASE_S", "8")
        found = server.names(settings(tmp_path))
        assert found.level == "warning"
        assert found.details == "unknown: REMEDY_WEBHOOK_SECRETT (REMEDY_WEBHOOK_SECRET)"


class TestGitHub:
    @pytest.mark.parametrize(("secret", "level"), [("", "failed"), ("short", "warning"), (SECRET, "passed")])
    def test_f_w10_the_webhook_secret(self, tmp_path: Path, secret: str, level: str) -> None:
        assert github.webhook_secret(settings(tmp_path, app_id=7, webhook_secret=secret)).level == level

    def test_gh_34_the_key_parses(self, tmp_path: Path) -> None:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        away = {"api_url": NOBODY}
        # It can be read; nobody is there to accept it.
        assert github.app_key(settings(tmp_path, app_id=7, private_key=pem, github=away)).level == "not checked"
        assert github.app_key(settings(tmp_path, app_id=7, private_key="junk")).level == "failed"
        assert github.app_key(settings(tmp_path, app_id=7)).level == "failed"
        assert github.app_key(settings(tmp_path, private_key=pem)).level == "failed"


class TestRunners:
    def test_no_agent_is_a_failure_with_a_cure(self, tmp_path: Path) -> None:
        assert "REMEDY_AGENT" in runners.agent(settings(tmp_path)).cure
        missing = runners.supervisor(settings(tmp_path, supervisor="acme/x/y", RUNNERS_DIR=tmp_path))
        assert (missing.level, "acme/x/y" in missing.details) == ("failed", True)

    def test_sr_1_a_supervisor_that_cannot_look_at_a_stopped_run_is_told(self, tmp_path: Path) -> None:
        judge = install_qa(tmp_path / "offered", {}, usages=["agent", "supervisor"])
        given = {"supervisor": judge, "agent": judge, "RUNNERS_DIR": tmp_path / "offered"}
        found = runners.supervisor(settings(tmp_path, **given))
        assert (found.level, "self_repair" in found.details) == ("warning", True) and "usages" in found.cure
        assert runners.supervisor(settings(tmp_path, self_repair=False, **given)).level == "passed"
        assert runners.agent(settings(tmp_path, **given)).level == "passed"

    def test_sx_7_a_sandbox_below_the_minimum_fails(self, tmp_path: Path) -> None:
        found = runners.sandbox(settings(tmp_path, sandbox={"backend": "landlock"}))
        assert (found.level, "nothing will be run" in found.details) == ("failed", True)
        assert runners.test_tools(settings(tmp_path, sandbox={"backend": "landlock"})).level == "not checked"
