"""Defaults that follow from other settings."""

import pytest

from app.settings import Settings


def test_the_address_follows_the_port_unless_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the one-time link of the set-up would lead nowhere."""
    monkeypatch.delenv("REMEDY_URL", raising=False)
    assert Settings().url == "http://127.0.0.1:8000"
    monkeypatch.setenv("REMEDY_PORT", "8123")
    assert Settings().url == "http://127.0.0.1:8123"
    monkeypatch.setenv("REMEDY_URL", "https://remedy.example/")
    assert Settings().url == "https://remedy.example"
