"""How the demo tells its story: a table that grows in a terminal, one event per line everywhere else (UX-T4)."""

import time

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from app.cli.say import is_plain, say


class Teller:
    """Prints one line per step with the seconds since the last one."""

    def __init__(self) -> None:
        self.began = self._last = time.monotonic()
        self.console = Console(highlight=False)

    def head(self, text: str, below: str) -> None:
        """The first lines."""
        self.console.print(text, style="bold", markup=False)
        self.console.print(below, style="dim", markup=False)
        self.console.print()

    def chapter(self, text: str) -> None:
        if is_plain():
            say("ok", "story", text)
        else:
            self.console.print(f"\n{text}", style="bold", markup=False)

    def step(self, part: str, text: str, level: str = "ok") -> None:
        """One thing that happened."""
        now = time.monotonic()
        seconds, self._last = now - self._last, now
        if is_plain():
            say(level, part, text)
            return
        sign, colour = {"ok": ("✓", "green"), "hold": ("!", "yellow"), "failed": ("✗", "red")}[level]
        row = Table.grid(padding=(0, 1))
        row.add_column(width=2, style=colour)
        row.add_column(width=24)
        row.add_column(width=72, overflow="fold")
        row.add_column(justify="right", style="dim")
        row.add_row(sign, part, text, f"{seconds:.1f} s")
        self.console.print(row, markup=False)

    def comment(self, body: str) -> None:
        """The sticky comment as a reader of GitHub sees it."""
        text = "\n".join(line for line in body.split("\n") if not line.startswith("<!--"))
        self.console.print()
        if is_plain():
            print(text.strip(), flush=True)
            return
        for mark in ("<details>", "</details>", "<summary>", "</summary>"):
            text = text.replace(mark, "")
        self.console.print(Markdown(text))

    def end(self) -> str:
        return f"demo: completed in {time.monotonic() - self.began:.0f} s"
