"""A Chromium without windows that notes what its console says about our pages, and reads them with axe-core."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
LOOKS = (("light", 1280), ("dark", 1280), ("light", 390))
"""Colour scheme and width: a screen by day, by night, and a phone."""
_AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js"))


class Eyes:
    """One browser at our address; `complaints` are console errors and policy violations on our own pages."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.page: Page = context.pages[0]
        self.url = url
        self.complaints: list[str] = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(f"{self.page.url}: {error}"))

    def _heard(self, message: ConsoleMessage) -> None:
        where = str(message.location.get("url", "")) or self.page.url
        if message.type in ("error", "warning") and where.startswith(self.url):
            self.complaints.append(f"{where}: {message.text}")

    def go(self, path: str) -> None:
        self.page.goto(path if path.startswith("http") else self.url + path)

    def picture(self, name: str) -> None:
        """Keep what is on the screen in the folder `PICTURES`, if the environment names one: README's are made so."""
        if folder := os.environ.get("PICTURES"):
            self.page.emulate_media(color_scheme="light")
            self.page.screenshot(path=Path(folder) / f"{name}.png")

    def faults(self) -> list[str]:
        """What axe-core finds on this page in each look; empty is good (UX-A3)."""
        found = []
        for scheme, width in LOOKS:
            self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.evaluate(_AXE.read_text())
            result = self.page.evaluate("axe.run()")
            for one in result["violations"]:
                nodes = "; ".join(node["html"][:160] for node in one["nodes"][:3])
                found.append(f"{self.page.url} {scheme} {width}: {one['id']}: {nodes}")
            wide = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if wide > 0:
                found.append(f"{self.page.url} {scheme} {width}: {wide} px wider than the window")
        self.page.set_viewport_size({"width": 1280, "height": 900})
        return found


@contextmanager
def eyes(url: str) -> Iterator[Eyes]:
    """A fresh browser that knows nobody."""
    with (
        tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as folder,
        sync_playwright() as play,
    ):
        context = play.chromium.launch_persistent_context(folder, executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield Eyes(context, url)
        finally:
            context.close()
