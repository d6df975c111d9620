"""The target of a step names one repository of the same installation, or nothing is started (PL-6, PL-7, C1, C2)."""

from dataclasses import replace

import pytest
from sqlalchemy import Connection, select

from app.diagnosis import start
from app.diagnosis.planning import plan_of
from app.diagnosis.start import decide_and_start
from app.ledger import diagnoses, repos, targets
from app.ledger.diagnoses import FailureFacts, GroupFacts
from app.ledger.rows import Row
from app.ledger.schema import runs
from app.ledger.targets import Unclear
from app.ledger.words import FailureKind
from app.runs.model import Cause, Outcome
from app.services import Services
from app.settings import Settings
from tests.unit.ledger.world import ACME, BLOG, NOW, OTHER, SHOP, a_diagnosis, a_scope

ALIASES = {"aliases": {"Le Magasin": "bibliothécaire", "Nobody": "elsewhere"}}


@pytest.fixture
def shop(conn: Connection) -> Row:
    """acme/shop with neighbours, and a repository of another installation."""
    a_scope(conn)
    for number, name in ((SHOP, "acme/shop"), (301, "acme/Agent-Bibliothécaire"), (302, "acme/bibliothecaire")):
        repos.upsert_repository(conn, number, ACME, name, "main", False)
    repos.upsert_installation(conn, OTHER, "other")
    repos.upsert_repository(conn, BLOG, OTHER, "other/blog", "main", False)
    repos.cache_policy(conn, SHOP, "sha", ALIASES, NOW)
    found = repos.get_repository(conn, SHOP)
    assert found is not None
    return found


def name_of(found: Row | Unclear) -> str:
    return found.why if isinstance(found, Unclear) else str(found.full_name)


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("", "acme/shop"),
        ("acme/Shop", "acme/shop"),
        ("Shop", "acme/shop"),
        ("agent bibliothecaire", "acme/Agent-Bibliothécaire"),
        ("ACME/agentbibliothécaire", "acme/Agent-Bibliothécaire"),
        ("le-magasin", "acme/bibliothecaire"),
        ("Nobody", "Nobody is no repository here"),
        ("other/blog", "other/blog is no repository here"),
        ("blog", "blog is no repository here"),
    ],
)
def test_a_name_or_an_alias_of_the_same_installation_PL_6_PL_7_DB_8(
    conn: Connection, shop: Row, target: str, named: str
) -> None:
    assert name_of(targets.resolve(conn, shop, target)) == named


def test_a_name_of_two_is_none_PL_7(conn: Connection, shop: Row) -> None:
    repos.upsert_repository(conn, 303, ACME, "acme/s-hop", "main", False)
    assert name_of(targets.resolve(conn, shop, "shop")) == "shop is the name of several repositories here"
    assert name_of(targets.resolve(conn, shop, "acme/shop")) == "acme/shop", "a full name is exact"


def test_two_names_of_one_repository_are_the_same_target_PL_4(conn: Connection, shop: Row) -> None:
    assert targets.same(conn, shop, "SHOP", "acme/shop") and targets.same(conn, shop, "", "shop")
    assert not targets.same(conn, shop, "bibliothecaire", "acme/shop")
    assert not targets.same(conn, shop, "nowhere", "elsewhere")


def test_a_plan_with_an_unknown_target_starts_nothing_PL_7_T1(
    conn: Connection, shop: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = diagnoses.get(conn, a_diagnosis(conn, a_scope(conn)))
    failing = FailureFacts("a.py::test_a", "pytest", FailureKind.FAILED, "E", "E", "print")
    diagnoses.store_failures(conn, told.id, [failing], NOW)
    group = GroupFacts("print", "a", Cause.THIS_CHANGE, ("a.py::test_a",), "", "")
    diagnoses.store_groups(conn, told.id, [group], NOW)

    def elsewhere(*given: object) -> object:
        steps, about = plan_of(*given)  # type: ignore[arg-type]
        return steps, [replace(one, target="Nobody") for one in about]

    monkeypatch.setattr(start, "plan_of", elsewhere)
    s = Services(Settings(), conn.engine, lambda job, item: None, lambda installation: None)  # type: ignore
    decided = decide_and_start(s, conn, told, diagnoses.groups_of(conn, told.id), NOW)
    assert (decided.outcome, decided.problem) == (Outcome.MISCONFIGURED, "Nobody is no repository here")
    assert conn.execute(select(runs)).all() == [], "nothing is created"

    monkeypatch.setattr(start, "plan_of", plan_of)
    assert decide_and_start(s, conn, told, diagnoses.groups_of(conn, told.id), NOW).outcome is Outcome.RUN_STARTED
