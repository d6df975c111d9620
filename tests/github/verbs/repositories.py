"""People, repositories, branches and pushes."""

from tests.github import events
from tests.github.acts import pulls, refs
from tests.github.core.gitstore import NO_SHA, Files, GitStore
from tests.github.core.state import Repository, Token, User
from tests.github.verbs.verb import RepositoryName, Verbs, reading, verb

ROLES = ("admin", "maintain", "write", "triage", "read")


class RepositoryVerbs(Verbs):
    """`files` are path to text or bytes; None deletes a file."""

    @verb
    def user(self, login: str, kind: str = "User") -> User:
        """A person, an `Organization`, or a bot if the login ends in `[bot]`; made when first named."""
        return self.world.state.user(login, kind)

    @verb
    def create_repo(
        self, name: str, files: Files, *, private: bool = True, install: bool = True, default_branch: str = "main"
    ) -> Repository:
        """`owner/name` with one commit on its default branch. An unknown owner becomes an organisation.

        The app is installed on it unless told otherwise; the first commit starts no CI, as nobody watches yet.
        """
        owner_login, _, short = name.partition("/")
        owner = self.world.state.user(owner_login, "Organization")
        repository = self._new(owner, short, private=private, default_branch=default_branch)
        repository.git.init(default_branch)
        repository.git.commit(default_branch, None, files, pulls.new_commit(self.world, "Start", owner))
        if install:
            self.world.install(self.world.state.apps[self.world.app_id], repository)
        return repository

    @verb
    def fork(self, user: User | str, repo: RepositoryName) -> Repository:
        """A person's copy; the app is not installed on it."""
        source, owner = self._repository(repo), self._user(user)
        fork = self._new(owner, source.name, private=source.private, default_branch=source.default_branch)
        fork.fork_of = source
        fork.git.init(source.default_branch)
        fork.git.fetch(source.git, "+refs/heads/*:refs/heads/*")
        return fork

    @verb
    def collaborator(self, repo: RepositoryName, login: str, role: str | None) -> None:
        """Give a role (admin, maintain, write, triage, read); None takes it away."""
        if role not in (*ROLES, None):
            raise ValueError(f"{role} is no role")
        repository = self._repository(repo)
        self.world.state.user(login)
        if role is None:
            repository.collaborators.pop(login, None)
        else:
            repository.collaborators[login] = role

    @verb
    def push(
        self,
        user: User | str,
        repo: RepositoryName,
        branch: str,
        files: Files,
        message: str = "Change",
        base: str | None = None,
    ) -> str:
        """One commit on a branch, made from `base` (default: the default branch) if it is new; the new SHA."""
        repository, actor = self._repository(repo), self._user(user)
        old = repository.git.refs().get(f"refs/heads/{branch}")
        parent = old or repository.git.resolve(base or repository.default_branch)
        new = repository.git.commit(branch, parent, files, pulls.new_commit(self.world, message, actor))
        refs.ref_moved(self.world, refs.Moved(repository, f"refs/heads/{branch}", old or NO_SHA, new, actor))
        return new

    @verb
    def force_push(self, user: User | str, repo: RepositoryName, branch: str, sha: str) -> None:
        """Point a branch at any commit, as `git push --force` does."""
        repository = self._repository(repo)
        ref = f"refs/heads/{branch}"
        old = repository.git.refs().get(ref, NO_SHA)
        repository.git.set_ref(ref, sha)
        refs.ref_moved(self.world, refs.Moved(repository, ref, old, sha, self._user(user)))

    @verb
    def delete_branch(self, user: User | str, repo: RepositoryName, branch: str) -> None:
        repository = self._repository(repo)
        ref = f"refs/heads/{branch}"
        old = repository.git.refs()[ref]
        repository.git.set_ref(ref, None)
        refs.ref_moved(self.world, refs.Moved(repository, ref, old, NO_SHA, self._user(user)))

    @verb
    def protect(self, repo: RepositoryName, branch: str) -> None:
        """No push by anybody reaches this branch by git."""
        self._repository(repo).protected.add(branch)

    @verb
    def rename(self, repo: RepositoryName, name: str) -> None:
        """A new short name; the old one answers 301 from now on."""
        repository = self._repository(repo)
        repository.former_names.add(repository.full_name.lower())
        repository.name = name

    @verb
    def transfer(self, repo: RepositoryName, owner: str) -> None:
        """Another account's from now on, with the same id; the app is installed there and no longer here."""
        repository, app = self._repository(repo), self.world.state.apps[self.world.app_id]
        old = next(i for i in self.world.state.installations.values() if repository.id in i.repositories)
        repository.former_names.add(repository.full_name.lower())
        repository.owner = self.world.state.user(owner)
        old.repositories.discard(repository.id)
        events.installation_repositories(self.world, old, ([], [repository]), old.account)
        self.world.install(app, repository)

    @verb
    def settings(self, repo: RepositoryName, *, has_issues: bool = True, archived: bool = False) -> None:
        repository = self._repository(repo)
        repository.has_issues, repository.archived = has_issues, archived

    @verb
    def user_token(self, login: str, repo: RepositoryName) -> str:
        """A password for git with which this person clones and pushes."""
        repository = self._repository(repo)
        wanted = {"contents": "write", "workflows": "write"}
        return self._token("user", self.world.state.user(login), repository, wanted).value

    @verb
    def actions_token(self, repo: RepositoryName) -> str:
        """A GITHUB_TOKEN: what it pushes starts no workflow and no webhook (F-L1)."""
        repository, bot = self._repository(repo), self.world.state.user("github-actions[bot]")
        return self._token("actions", bot, repository, {"contents": "write", "pull_requests": "write"}).value

    @reading
    def branches(self, repo: RepositoryName) -> dict[str, str]:
        """SHA by branch."""
        found = self._repository(repo).git.refs()
        return {ref.removeprefix("refs/heads/"): sha for ref, sha in found.items()}

    @reading
    def read_file(self, repo: RepositoryName, path: str, ref: str | None = None) -> str | None:
        """A file's text at a branch or commit, None if it is not there."""
        repository = self._repository(repo)
        sha = repository.git.resolve(ref or repository.default_branch)
        found = repository.git.read(sha, path) if sha is not None else None
        return found.decode("utf-8", "replace") if found is not None else None

    def _new(self, owner: User, short: str, *, private: bool, default_branch: str) -> Repository:
        number, now = self.world.state.new_id(), self.world.clock.now_ms()
        git = GitStore(self.world.folder / "repositories" / f"{number}.git")
        made = Repository(number, owner, short, private, default_branch, git, now, now)
        if self.world.state.find_repository(made.full_name) is not None:
            raise ValueError(f"{made.full_name} exists")
        self.world.state.repositories[number] = made
        return made

    def _token(self, kind: str, who: User, repository: Repository, permissions: dict[str, str]) -> Token:
        value = ("ghp_" if kind == "user" else "ghs_") + self.world.state.random.randbytes(18).hex()
        expires_at = self.world.clock.now_ms() + 30 * 86_400_000
        token = Token(value, kind, who, frozenset({repository.id}), permissions, expires_at)
        self.world.state.tokens[value] = token
        return token
