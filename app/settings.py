"""Environment to frozen settings; the names are those of the README's table."""

import difflib
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.errors import UserError


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GitHubSettings(_Part):
    """Where GitHub is; the defaults are github.com's."""

    api_url: str = "https://api.github.com"
    web_url: str = "https://github.com"
    api_version: str = "2022-11-28"
    ca_file: Path | None = None
    # The issuer of the app's JWT instead of the app id (github.md, F-T2).
    client_id: str = ""
    # Sent as X-GitHub-Stateless-S2S-Token when a token is minted; forces its format (F-T5).
    token_format: Literal["", "enabled", "disabled"] = ""


class Times(_Part):
    """Every wait and pace, in seconds; `make demo` and the tests set short ones (decisions.md, row 60)."""

    quiet_s: float = 20
    # The status comment is posted when the diagnosis is ready, or after this long (ux.md, 1).
    first_comment_s: float = 120
    siblings_s: float = 300
    comment_pace_s: float = 20
    write_pace_s: float = 1
    lease_s: float = 8
    renew_s: float = 2
    sweep_s: float = 2
    rering_s: float = 10
    push_quiet_s: float = 120
    ci_first_suite_s: float = 600
    ci_all_s: float = 7200
    ci_poll_s: float = 60
    # First pause between two looks at a remote agent's session; it grows to eight times that.
    remote_poll_s: float = 15
    redelivery_s: float = 60
    tidy_s: float = 600


class Limits(_Part):
    """What stops a run; a repository's policy may only lower these (domain.md, section 6)."""

    rounds: int = 3
    restarts: int = 2
    self_repairs: int = 2
    head_moves: int = 3
    bot_commits: int = 4
    steps: int = 10
    # One budget of a run, None: no limit. A maintainer's resume adds one more, up to `budgets` in all.
    run_usd: Decimal | None = Field(None, gt=0)
    run_tokens: int | None = Field(None, gt=0)
    run_s: int | None = Field(21_600, gt=0)
    budgets: int = Field(3, ge=1)
    running: int = 2
    agent_turn_s: int = 3600
    supervisor_turn_s: int = 900
    self_repair_turn_s: int = 600
    proof_s: int = 1800
    cell_s: int = 600
    mutants_s: int = 60
    publication_tries: int = 5
    # Of one installation; GitHub allows about 500, which people's own clicks count into (github.md, GH-11).
    writes_an_hour: int = 400
    max_failures: int = 50
    max_detail_chars: int = 3000
    payload_bytes: int = 25 * 1024 * 1024
    log_bytes: int = 200 * 1024 * 1024
    # Compressed size of an artifact or of all logs of an attempt (github.md, GH-27).
    archive_bytes: int = 500 * 1024 * 1024

    def lowered(self, by: Mapping[str, Any]) -> "Limits":
        """These limits, each at most what `by` says; a higher number or an unknown name changes nothing (S37)."""
        known = {name: value for name, value in by.items() if value is not None and name in type(self).model_fields}
        set_ = {name: value for name in known if (value := getattr(self, name)) is not None}
        return self.model_copy(update=known | {name: min(value, known[name]) for name, value in set_.items()})


class SandboxSettings(_Part):
    """How untrusted code is run; no repository can change it (sandbox.md, SX-10)."""

    backend: Literal["auto", "bwrap", "engine", "landlock", "uid"] = "auto"
    minimum: Literal["STRONG", "DEGRADED", "WEAK"] = "STRONG"
    i_accept_no_isolation: tuple[str, ...] = ()
    uid_pool: str = "70000-70255"
    toolchains: tuple[Path, ...] = ()
    package_hosts: tuple[str, ...] = ()


class Upstream(_Part):
    """One family of model providers: its address without `/v1`, and the key, which no agent ever holds."""

    url: str = ""
    key: SecretStr = SecretStr("")


class ModelSettings(_Part):
    """Where agents find their models; they speak to these through the gateway of their turn (RN-42)."""

    openai: Upstream = Upstream()
    anthropic: Upstream = Upstream()
    gemini: Upstream = Upstream()

    @property
    def keys(self) -> tuple[SecretStr, ...]:
        return (self.openai.key, self.anthropic.key, self.gemini.key)


def default_data_folder() -> Path:
    """`/var/lib/remedy` for root, else the user's state folder (decisions.md, row 80)."""
    if os.geteuid() == 0:
        return Path("/var/lib/remedy")
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "remedy"


class Settings(BaseSettings):
    """All settings of one process, read once. Unknown `REMEDY_` names are reported by `remedy doctor`, not refused."""

    model_config = SettingsConfigDict(
        env_prefix="REMEDY_", env_nested_delimiter="__", frozen=True, extra="ignore", secrets_dir=None
    )

    data: Path = Field(default_factory=default_data_folder)
    database_url: str = Field("", validation_alias="DATABASE_URL")
    redis_url: str = Field("", validation_alias="REDIS_URL")
    runners_dir: Path | None = Field(None, validation_alias="RUNNERS_DIR")

    host: str = "127.0.0.1"
    port: int = 8000
    url: str = Field(default_factory=lambda known: f"http://127.0.0.1:{known['port']}")

    app_id: int = 0
    app_slug: str = "remedy"
    private_key: SecretStr = SecretStr("")
    private_key_file: Path | None = None
    webhook_secret: SecretStr = SecretStr("")
    secret_key: SecretStr = SecretStr("")
    # Who scrapes /metrics sends it; without it there is no such page.
    metrics_token: SecretStr = SecretStr("")

    # The App's OAuth client, for sign-in to our pages; ids or logins of the accounts that may see operator pages.
    client_id: str = ""
    client_secret: SecretStr = SecretStr("")
    # Propose `.github/remedy.yml` in the first repositories of an installation, once each.
    onboarding: bool = True
    operators: Annotated[tuple[str, ...], NoDecode] = ()

    agent: str = ""
    supervisor: str = ""
    self_repair: bool = True
    tag_prefix: str = "e2e-fail-"
    proof_tools: str = ""
    long_workers: int = 3
    # Payloads, prompts and evidence of what ended longer ago are let go by the sweep; 0 keeps them for ever.
    keep_days: int = Field(90, ge=0)

    github: GitHubSettings = GitHubSettings()
    times: Times = Times()
    limits: Limits = Limits()
    sandbox: SandboxSettings = SandboxSettings()
    models: ModelSettings = ModelSettings()

    @field_validator("operators", mode="before")
    @classmethod
    def _at_commas(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("url")
    @classmethod
    def _without_slash(cls, value: str) -> str:
        return value.rstrip("/")

    @cached_property
    def database(self) -> str:
        """SQLAlchemy URL: `DATABASE_URL`, else a SQLite file in the data folder."""
        return self.database_url or f"sqlite:///{self.data / 'remedy.db'}"

    @property
    def has_pages(self) -> bool:
        """Whether people can sign in here, so that a link to a page leads somewhere."""
        return bool(self.client_id and self.client_secret.get_secret_value())

    @property
    def operator_key(self) -> str:
        """What seals secrets in the database: `REMEDY_SECRET_KEY`, else a file of the data folder, made when needed."""
        if given := self.secret_key.get_secret_value():
            return given
        path = self.data / "secret.key"
        try:
            with suppress(FileExistsError):
                _create(path, secrets.token_urlsafe(32))
            return path.read_text().strip()
        except OSError as error:
            raise UserError(f"{path} cannot be used: {error.strerror}. Set REMEDY_SECRET_KEY.") from error

    def with_app(self, **app: Any) -> "Settings":
        """These settings with the App that the set-up made."""
        secret = {name: SecretStr(app[name]) for name in ("client_secret", "webhook_secret")}
        named = {"app_id": app["app_id"], "app_slug": app["slug"], "client_id": app["client_id"]}
        return self.model_copy(update={**named, **secret, "private_key": SecretStr(app["pem"])})

    def pem(self) -> str:
        """The app's private key as PEM text; raises UserError that names what to set."""
        if self.private_key_file is not None:
            try:
                return self.private_key_file.read_text()
            except OSError as error:
                raise UserError(f"REMEDY_PRIVATE_KEY_FILE cannot be read: {error.strerror}") from error
        if not self.private_key.get_secret_value():
            raise UserError("Set REMEDY_PRIVATE_KEY or REMEDY_PRIVATE_KEY_FILE to the app's private key.")
        return self.private_key.get_secret_value()


def unknown_names() -> dict[str, str]:
    """`REMEDY_` variables that no setting reads, each with the setting that looks like it, or nothing."""
    known = {f"REMEDY_{name.upper()}" for name in Settings.model_fields}
    found = sorted(name for name in os.environ if name.startswith("REMEDY_") and name.split("__")[0] not in known)
    return {name: next(iter(difflib.get_close_matches(name, known, 1)), "") for name in found}


def _create(path: Path, text: str) -> None:
    """The whole file appears at once, for its owner alone; FileExistsError when another process came first."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        os.link(draft, path)
    finally:
        draft.unlink()
