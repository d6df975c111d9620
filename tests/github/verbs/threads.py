"""Pull requests, issues, comments, reviews, as people make them."""

from tests.github import events
from tests.github.acts import pulls, refs, threads
from tests.github.acts.pulls import Proposal
from tests.github.core.state import Comment, Pull, Review, ReviewComment, Thread, User
from tests.github.verbs.verb import RepositoryName, ThreadName, Verbs, verb


class ThreadVerbs(Verbs):
    """A thread is the object, or `owner/name#number`."""

    @verb
    def open_pull(
        self,
        user: User | str,
        repo: RepositoryName,
        head: str,
        base: str | None = None,
        title: str | None = None,
        body: str = "",
    ) -> Pull:
        """`head` is a branch, or `owner:branch` of a fork; the pull request's CI starts."""
        repository = self._repository(repo)
        proposal = Proposal(title or head, head, base or repository.default_branch, body)
        return pulls.open_pull(self.world, repository, proposal, (self._user(user), None))

    @verb
    def open_draft(self, user: User | str, repo: RepositoryName, head: str, title: str | None = None) -> Pull:
        repository = self._repository(repo)
        proposal = Proposal(title or head, head, repository.default_branch, "", draft=True)
        return pulls.open_pull(self.world, repository, proposal, (self._user(user), None))

    @verb
    def set_draft(self, user: User | str, pull: ThreadName, draft: bool) -> None:
        pulls.set_draft(self.world, self._pull(pull), draft, self._user(user))

    @verb
    def set_base(self, user: User | str, pull: ThreadName, base: str) -> None:
        refs.set_base(self.world, self._pull(pull), base, self._user(user))

    @verb
    def merge(self, user: User | str, pull: ThreadName) -> str:
        """A true merge commit; its SHA. What follows from the moved base follows: other heads, their CI."""
        return pulls.merge(self.world, self._pull(pull), self._user(user))

    @verb
    def update_branch(self, user: User | str, pull: ThreadName) -> str:
        """The button "Update branch"; the head's new SHA."""
        return pulls.update_branch(self.world, self._pull(pull), self._user(user))

    @verb
    def queue_for_merge(self, user: User | str, pull: ThreadName) -> str:
        """Into the merge queue: `merge_group.checks_requested`, and the SHA that it is about."""
        return pulls.queue_for_merge(self.world, self._pull(pull), self._user(user))

    @verb
    def close(self, user: User | str, thread: ThreadName) -> None:
        threads.set_state(self.world, self._thread(thread), "closed", self._user(user))

    @verb
    def reopen(self, user: User | str, thread: ThreadName) -> None:
        found = self._thread(thread)
        if found.pull is not None:
            pulls.reopen(self.world, found.pull, self._user(user))
        else:
            threads.set_state(self.world, found, "open", self._user(user))

    @verb
    def edit(self, user: User | str, thread: ThreadName, title: str | None = None, body: str | None = None) -> None:
        changes = {name: value for name, value in (("title", title), ("body", body)) if value is not None}
        threads.edit(self.world, self._thread(thread), self._user(user), **changes)

    @verb
    def open_issue(self, user: User | str, repo: RepositoryName, title: str, body: str = "") -> Thread:
        wish = threads.Wish(title, body)
        return threads.open_issue(self.world, self._repository(repo), wish, (self._user(user), None))

    @verb
    def label(self, user: User | str, thread: ThreadName, labels: list[str]) -> None:
        """The labels become exactly these."""
        threads.set_labels(self.world, self._thread(thread), labels, self._user(user))

    @verb
    def comment(self, user: User | str, thread: ThreadName, body: str) -> Comment:
        return threads.add_comment(self.world, self._thread(thread), body, (self._user(user), None))

    @verb
    def edit_comment(self, user: User | str, comment: Comment | int, body: str) -> None:
        """Anybody's comment, as a maintainer may; the same text again is what hiding looks like (F-E4)."""
        threads.edit_comment(self.world, self._comment(comment), body, self._user(user))

    @verb
    def delete_comment(self, user: User | str, comment: Comment | int) -> None:
        threads.delete_comment(self.world, self._comment(comment), self._user(user))

    @verb
    def close_with_comment(self, user: User | str, thread: ThreadName, body: str) -> Comment:
        """One click, two events at once (F-W15)."""
        found, actor = self._thread(thread), self._user(user)
        comment = threads.add_comment(self.world, found, body, (actor, None))
        threads.set_state(self.world, found, "closed", actor)
        return comment

    @verb
    def review(self, user: User | str, pull: ThreadName, body: str, state: str = "commented") -> Review:
        """`state`: commented, approved, changes_requested."""
        return pulls.add_review(self.world, self._pull(pull), state, body, (self._user(user), None))

    @verb
    def review_comment(
        self, user: User | str, pull: ThreadName, body: str, path: str, line: int = 1, reply_to: int | None = None
    ) -> ReviewComment:
        """A comment on a line, inside a review of its own; that review's event goes out too, as on GitHub."""
        review = pulls.add_review(self.world, self._pull(pull), "commented", "", (self._user(user), None))
        return pulls.add_review_comment(self.world, review, (path, line), body, reply_to)

    @verb
    def react(self, user: User | str, comment: Comment | int, content: str) -> None:
        threads.react(self.world, self._comment(comment).reactions, content, self._user(user))

    @verb
    def approve_ci(self, user: User | str, pull: ThreadName) -> None:
        """Let the workflows run that wait for a maintainer's approval."""
        found = self._pull(pull)
        self.world.state.ci_needs_approval.discard(found.thread.user.login)
        self.world.runner.on_pull(found, "synchronize", self._user(user))

    @verb
    def resend(self, user: User | str, pull: ThreadName, action: str) -> None:
        """A pull request event without any change, such as a late `synchronize`."""
        found = self._pull(pull)
        extra = {"before": found.head_sha, "after": found.head_sha} if action == "synchronize" else None
        events.pull_request(self.world, action, found, self._user(user), extra)
