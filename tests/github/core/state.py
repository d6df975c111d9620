"""What the local GitHub holds in memory: people, apps, repositories, threads, checks, Actions, deliveries."""

import itertools
import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.github.core.ci import Artifact, CheckRun, CheckSuite, Job, WorkflowRun
from tests.github.core.gitstore import GitStore

ACTIONS_APP_ID = 15368
FIRST_ID = 2**32 + 1000


@dataclass
class User:
    id: int
    login: str
    type: str = "User"

    @property
    def email(self) -> str:
        return f"{self.id}+{self.login}@users.noreply.github.com"


@dataclass
class App:
    """`pem` is the private key; only the public half verifies. `permissions` and `events` are what app.yml asks for."""

    id: int
    slug: str
    name: str
    owner: User
    bot: User
    pem: str
    webhook_secret: str
    permissions: dict[str, str]
    events: list[str]
    hook_url: str | None = None
    url: str = "https://remedy.example"
    client_id: str = ""
    client_secret: str = ""
    callback_urls: list[str] = field(default_factory=list)
    setup_url: str = ""
    created_at: int = 0


@dataclass
class Installation:
    id: int
    app: App
    account: User
    repositories: set[int]
    permissions: dict[str, str]
    events: list[str]
    created_at: int
    suspended_at: int | None = None


@dataclass(frozen=True)
class Token:
    """`kind`: `installation`, `actions` (a GITHUB_TOKEN), `user` (a person's, for git only), `person` (by sign-in)."""

    value: str
    kind: str
    actor: User
    repositories: frozenset[int]
    permissions: dict[str, str]
    expires_at: int
    installation: Installation | None = None
    app: App | None = None


@dataclass(frozen=True)
class SignIn:
    """A person agreed that an app may ask in her name; `challenge` is the PKCE hash that the code is bound to."""

    app: App
    who: User
    redirect_uri: str
    challenge: str
    expires_at: int


@dataclass
class Label:
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass
class Repository:
    id: int
    owner: User
    name: str
    private: bool
    default_branch: str
    git: GitStore
    created_at: int
    pushed_at: int
    fork_of: "Repository | None" = None
    has_issues: bool = True
    archived: bool = False
    collaborators: dict[str, str] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    threads: dict[int, "Thread"] = field(default_factory=dict)
    run_numbers: dict[str, int] = field(default_factory=dict)
    workflow_ids: dict[str, int] = field(default_factory=dict)
    former_names: set[str] = field(default_factory=set)

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"

    def __str__(self) -> str:
        return self.full_name

    @property
    def pulls(self) -> list["Pull"]:
        return [thread.pull for thread in self.threads.values() if thread.pull is not None]


@dataclass
class Thread:
    """An issue, or the issue half of a pull request; `str()` is its control name, `owner/name#7`."""

    id: int
    number: int
    repository: Repository
    user: User
    title: str
    body: str | None
    created_at: int
    updated_at: int
    app: App | None = None
    state: str = "open"
    state_reason: str | None = None
    labels: list[Label] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    comments: list["Comment"] = field(default_factory=list)
    reactions: list["Reaction"] = field(default_factory=list)
    closed_at: int | None = None
    closed_by: User | None = None
    pull: "Pull | None" = None

    def __str__(self) -> str:
        return f"{self.repository.full_name}#{self.number}"


@dataclass
class Pull:
    id: int
    thread: Thread
    head_repository: Repository
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    draft: bool = False
    merged_at: int | None = None
    merged_by: User | None = None
    merge_commit_sha: str | None = None
    reviews: list["Review"] = field(default_factory=list)
    review_comments: list["ReviewComment"] = field(default_factory=list)
    maintainer_can_modify: bool = False

    def __str__(self) -> str:
        return str(self.thread)

    @property
    def repository(self) -> Repository:
        return self.thread.repository

    @property
    def number(self) -> int:
        return self.thread.number

    @property
    def state(self) -> str:
        return self.thread.state

    @property
    def is_from_fork(self) -> bool:
        return self.head_repository is not self.repository


@dataclass
class Comment:
    id: int
    thread: Thread
    user: User
    body: str
    created_at: int
    updated_at: int
    app: App | None = None
    reactions: list["Reaction"] = field(default_factory=list)


@dataclass
class Review:
    id: int
    pull: Pull
    user: User
    body: str
    state: str
    commit_id: str
    submitted_at: int
    app: App | None = None


@dataclass
class ReviewComment:
    id: int
    pull: Pull
    user: User
    body: str
    path: str
    line: int
    commit_id: str
    created_at: int
    updated_at: int
    review: Review
    reply_to: int | None = None
    side: str = "RIGHT"
    app: App | None = None
    reactions: list["Reaction"] = field(default_factory=list)


@dataclass
class Reaction:
    id: int
    user: User
    content: str
    created_at: int


@dataclass
class State:
    """Everything by id; `seed` makes tokens and secrets the same in every run of a test."""

    seed: int = 0
    users: dict[str, User] = field(default_factory=dict)
    apps: dict[int, App] = field(default_factory=dict)
    installations: dict[int, Installation] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    repositories: dict[int, Repository] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    review_comments: dict[int, ReviewComment] = field(default_factory=dict)
    suites: dict[int, CheckSuite] = field(default_factory=dict)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    runs: dict[int, WorkflowRun] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    artifacts: dict[int, Artifact] = field(default_factory=dict)
    manifests: dict[str, tuple[int, int]] = field(default_factory=dict)
    sign_ins: dict[str, SignIn] = field(default_factory=dict)
    ci_needs_approval: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self._ids = itertools.count(FIRST_ID)

    def new_id(self) -> int:
        """Ids start above 2**32, as real ones have passed it."""
        return next(self._ids)

    def user(self, login: str, kind: str = "User") -> User:
        """The person of this login, made when first named."""
        if login not in self.users:
            self.users[login] = User(self.new_id(), login, "Bot" if login.endswith("[bot]") else kind)
        return self.users[login]

    def find_user(self, email: str) -> User | None:
        return next((user for user in self.users.values() if user.email == email), None)

    def find_repository(self, full_name: str) -> Repository | None:
        """By today's name, any case."""
        wanted = full_name.lower()
        return next((repo for repo in self.repositories.values() if repo.full_name.lower() == wanted), None)

    def suites_of(self, repository: Repository, sha: str) -> list[CheckSuite]:
        return [suite for suite in self.suites.values() if suite.repository is repository and suite.head_sha == sha]

    def installations_of(self, repository: Repository) -> Iterable[Installation]:
        return [found for found in self.installations.values() if repository.id in found.repositories]
