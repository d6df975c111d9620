"""Read what GitHub knows of the app itself, of its installations and of their repositories."""

from collections.abc import Mapping

from app.events.payloads.parts import Installation, ListOf, Part, RepositoryRef, Text
from app.github.calls import Listing
from app.github.client import Client
from app.github.paths import path


class AppFacts(Part):
    """`permissions` and `events` are what the app asks for, to be compared with app.yml (GH-34)."""

    id: int
    slug: Text = ""
    name: Text = ""
    html_url: str | None = None
    permissions: Mapping[str, str] | None = None
    events: ListOf[str] = ()


class HookConfig(Part):
    url: Text = ""
    content_type: Text = ""
    insecure_ssl: str | float | None = None


def get_app(client: Client) -> AppFacts:
    return AppFacts.model_validate(client.get(path("app")))


def get_hook_config(client: Client) -> HookConfig:
    """Where deliveries go, and in which form (F-W11)."""
    return HookConfig.model_validate(client.get(path("app", "hook", "config")))


def find_installations(client: Client) -> Listing[Installation]:
    return client.pages(path("app", "installations")).of(Installation)


def find_installation(client: Client, installation_id: int) -> Installation | None:
    """What was granted, and whether it is suspended; None when it was removed."""
    found = client.find(path("app", "installations", installation_id))
    return Installation.model_validate(found) if found is not None else None


def find_repositories(client: Client) -> Listing[RepositoryRef]:
    """The repositories of the client's installation."""
    return client.pages(path("installation", "repositories"), "repositories").of(RepositoryRef)
