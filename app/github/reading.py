"""A client that asks and never writes, for what is only tried."""

from typing import Any

from app.github.client import Client


class WriteRefused(Exception):
    """Something wanted to write to GitHub where nothing may: a bug of ours."""


class ReadingClient(Client):
    """As `Client`, also in its views; every write raises WriteRefused before anything is sent."""

    def post(self, path: str, json: object = None, *, repeatable: bool = False) -> Any:
        """Never."""
        raise WriteRefused(f"POST {path}")

    def patch(self, path: str, json: object) -> Any:
        """Never."""
        raise WriteRefused(f"PATCH {path}")

    def put(self, path: str, json: object = None) -> Any:
        """Never."""
        raise WriteRefused(f"PUT {path}")

    def delete(self, path: str) -> None:
        """Never."""
        raise WriteRefused(f"DELETE {path}")
