"""`python -m tests.github`: the local GitHub as a process, driven over `/_double/...`."""

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path

import yaml

from tests.github import MANIFEST, LocalGitHub, Options


def main(arguments: list[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; one JSON line on stdout says where it listens and who the app is."""
    given = _parser().parse_args(arguments)
    if given.demo:
        from tests.demo.play import main as play

        return play()
    options = Options(
        ghes=given.ghes, id_rule=not given.no_id_rule, auto_ci=given.auto_ci, seed=given.seed, strict=False
    )
    github = LocalGitHub(
        hook_url=given.hook_url,
        manifest=yaml.safe_load(given.app_yml.read_text()) if given.app_yml else MANIFEST,
        folder=given.data,
        options=options,
        ports=(given.port, given.store_port),
    )
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    github.start()
    print(json.dumps(_facts(github, given.data)), flush=True)
    ended.wait()
    github.stop()
    for complaint in github.complaints():
        print(complaint, file=sys.stderr)
    return 1 if github.complaints() else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.github", description=__doc__)
    parser.add_argument("--demo", action="store_true", help="play the demo of the README and end")
    parser.add_argument("--port", type=int, default=0, help="API, pages and git; 0 takes a free one")
    parser.add_argument("--store-port", type=int, default=0, help="the store of logs and artifacts")
    parser.add_argument("--data", type=Path, help="folder for repositories, logs, app.pem and github.json")
    parser.add_argument("--hook-url", help="where the app's webhooks go")
    parser.add_argument("--app-yml", type=Path, help="the app's manifest; default: what github.md B10 asks for")
    parser.add_argument("--auto-ci", action="store_true", help="run CI by itself instead of by `run_ci`")
    parser.add_argument("--ghes", action="store_true", help="answer as a GitHub Enterprise Server")
    parser.add_argument("--no-id-rule", action="store_true", help="a job's id differs from its check run's")
    parser.add_argument("--seed", type=int, default=0, help="same seed, same tokens and GUIDs")
    return parser


def _facts(github: LocalGitHub, data: Path | None) -> dict[str, object]:
    """What the app under test is configured with; with `--data` also as files, the key with mode 0600."""
    facts: dict[str, object] = {
        "api_url": github.api_url,
        "web_url": github.web_url,
        "store_url": github.store_url,
        "app_id": github.app.id,
        "app_slug": github.app.slug,
        "webhook_secret": github.app.webhook_secret,
        "pid": os.getpid(),
    }
    if data is None:
        return facts | {"pem": github.app.pem}
    data.mkdir(parents=True, exist_ok=True)
    key = data / "app.pem"
    key.touch(mode=0o600)
    key.write_text(github.app.pem)
    facts["pem_file"] = str(key)
    (data / "github.json").write_text(json.dumps(facts, indent=2))
    return facts


if __name__ == "__main__":
    sys.exit(main())
