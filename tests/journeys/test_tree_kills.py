"""The real process tree: web, workers, sweep and Redis are killed on the way; the end is the same (issue 2, ST-S2)."""

import shutil
from collections.abc import Callable, Iterator

import pytest
from redis import Redis

from app.runs.model import Stage
from tests.journeys.outcome import assert_seen_once, left_over
from tests.journeys.place import TREE_S
from tests.journeys.place import a_tree as a_tree_here
from tests.journeys.tree import SLOW_AGENT, Tree
from tests.journeys.world import REPO
from tests.processes import wait_for
from tests.redis_server import redis_server

pytestmark = [pytest.mark.long, pytest.mark.timeout(TREE_S)]


@pytest.fixture
def a_tree() -> Iterator[Callable[..., Tree]]:
    """Open a tree; what it left is removed, and no rule of GitHub may have been broken."""
    opened: list[Tree] = []

    def make(redis_url: str = "") -> Tree:
        tree = a_tree_here(SLOW_AGENT)
        tree.redis_url = redis_url
        opened.append(tree)
        tree.open()
        tree.prepare()
        return tree

    yield make
    for tree in opened:
        complaints = tree.github.complaints()
        tree.close()
        shutil.rmtree(tree.folder, ignore_errors=True)
        assert complaints == []


def test_every_process_is_killed_once_on_the_way(a_tree: Callable[..., Tree]) -> None:
    """Web between accept and intake; a long worker with its agent, one with its proof; the senders; the sweep."""
    tree = a_tree()
    with tree.stopped("quick"):
        number = tree.red_pull()
        assert all(delivery.ok for delivery in tree.github.deliveries("check_run"))
        tree.kill("web")
        assert tree.github.our_checks(f"{REPO}#{number}") == []
    tree.wait("Remedy answers again", tree._answers)
    tree.wait_for_stage(number, Stage.AGENT)
    tree.wait("the agent works", lambda: any(t["status"] == "RUNNING" for t in tree.run_at(number)["turns"]))
    tree.kill("long")
    tree.kill("sweep")
    tree.wait_for_stage(number, Stage.PROVE)
    tree.kill("long")
    tree.wait_for_stage(number, Stage.PUBLISH)
    tree.kill("quick")

    tree.wait_until_completed(number)

    wait_for(lambda: left_over(tree.services()) == {}, why="something waits for ever")
    assert_seen_once(tree, number)


def test_redis_is_down_killed_and_emptied_on_the_way_CR_16(a_tree: Callable[..., Tree]) -> None:
    """Webhooks are accepted without it; work starts when it is back; what it forgets is rung again."""
    with redis_server() as redis:
        tree = a_tree(redis.url)
        redis.kill()
        number = tree.red_pull()
        assert all(delivery.ok for delivery in tree.github.deliveries("check_run"))
        assert tree.run_at(number) == {}
        redis.start()
        tree.wait_for_stage(number, Stage.AGENT)
        with Redis.from_url(redis.url) as client:
            client.flushall()
        tree.wait_for_stage(number, Stage.PROVE)
        redis.kill()
        shutil.rmtree(redis.folder / "appendonlydir", ignore_errors=True)
        redis.start()

        tree.wait_until_completed(number)

        wait_for(lambda: left_over(tree.services()) == {}, why="something waits for ever")
        assert_seen_once(tree, number)
