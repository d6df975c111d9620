"""Open and merge pull requests, review them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.github import events
from tests.github.acts import refs, threads
from tests.github.core.gitstore import NewCommit, Person
from tests.github.core.messages import Refused, invalid
from tests.github.core.state import App, Pull, Repository, Review, ReviewComment, User

if TYPE_CHECKING:
    from tests.github.world import World


@dataclass(frozen=True)
class Proposal:
    """What somebody who opens a pull request says. `head` is `branch` or `owner:branch`."""

    title: str
    head: str
    base: str
    body: str | None = None
    draft: bool = False
    maintainer_can_modify: bool = False


def open_pull(world: "World", repository: Repository, proposal: Proposal, author: tuple[User, App | None]) -> Pull:
    """Raises Refused(422) as GitHub does for a missing branch, an empty diff or a second one of the same branches."""
    head_repository, head_ref = _head(world, repository, proposal.head)
    head_sha = head_repository.git.resolve(f"refs/heads/{head_ref}")
    base_sha = repository.git.resolve(f"refs/heads/{proposal.base}")
    if head_sha is None:
        raise invalid("PullRequest", "head")
    if base_sha is None:
        raise invalid("PullRequest", "base")
    same = [
        p
        for p in repository.pulls
        if (p.head_repository, p.head_ref, p.base_ref) == (head_repository, head_ref, proposal.base)
    ]
    if any(pull.state == "open" for pull in same):
        text = f"A pull request already exists for {head_repository.owner.login}:{head_ref}."
        raise Refused(422, "Validation Failed", [{"resource": "PullRequest", "code": "custom", "message": text}])
    if head_repository is not repository:
        repository.git.fetch(head_repository.git, f"+{head_sha}:refs/double/fork")
    if repository.git.is_ancestor(head_sha, base_sha):
        text = f"No commits between {proposal.base} and {head_ref}"
        raise Refused(422, "Validation Failed", [{"resource": "PullRequest", "code": "custom", "message": text}])
    thread = threads.new_thread(world, repository, proposal.title, proposal.body, author)
    pull = Pull(
        id=world.state.new_id(),
        thread=thread,
        head_repository=head_repository,
        head_ref=head_ref,
        head_sha=head_sha,
        base_ref=proposal.base,
        base_sha=base_sha,
        draft=proposal.draft,
        maintainer_can_modify=proposal.maintainer_can_modify and head_repository is not repository,
    )
    thread.pull = pull
    refs.point_pull(pull, head_sha)
    events.pull_request(world, "opened", pull, author[0])
    world.runner.on_pull(pull, "opened", author[0])
    return pull


def reopen(world: "World", pull: Pull, actor: User) -> None:
    if pull.merged_at is not None:
        raise invalid("PullRequest", "state", message="state cannot be changed. The pull request is merged.")
    head = pull.head_repository.git.resolve(f"refs/heads/{pull.head_ref}")
    if head is None:
        raise invalid("PullRequest", "state", message=f"state cannot be changed. The {pull.head_ref} branch is gone.")
    refs.point_pull(pull, head)
    threads.set_state(world, pull.thread, "open", actor)
    world.runner.on_pull(pull, "reopened", actor)


def set_draft(world: "World", pull: Pull, draft: bool, actor: User) -> None:
    if pull.draft != draft:
        pull.draft = draft
        events.pull_request(world, "converted_to_draft" if draft else "ready_for_review", pull, actor)
        if not draft:
            world.runner.on_pull(pull, "ready_for_review", actor)


def merge(world: "World", pull: Pull, actor: User) -> str:
    """A true merge commit on the base branch; its SHA. Raises Refused(405) when it cannot be merged."""
    repository = pull.repository
    base = repository.git.resolve(f"refs/heads/{pull.base_ref}")
    if pull.state != "open" or base is None:
        raise Refused(405, "Pull Request is not mergeable")
    text = f"Merge pull request #{pull.number} from {pull.head_repository.owner.login}/{pull.head_ref}"
    sha = repository.git.merge(base, pull.head_sha, new_commit(world, f"{text}\n\n{pull.thread.title}", actor))
    if sha is None:
        raise Refused(405, "Pull Request has merge conflicts")
    repository.git.set_ref(f"refs/heads/{pull.base_ref}", sha)
    pull.base_sha = base
    refs.mark_merged(world, pull, sha, actor)
    refs.ref_moved(world, refs.Moved(repository, f"refs/heads/{pull.base_ref}", base, sha, actor))
    return sha


def update_branch(world: "World", pull: Pull, actor: User) -> str:
    """The base merged into the head branch; the head's new SHA."""
    base = pull.repository.git.resolve(f"refs/heads/{pull.base_ref}") or pull.base_sha
    old = pull.head_sha
    text = f"Merge branch '{pull.base_ref}' into {pull.head_ref}"
    sha = pull.repository.git.merge(old, base, new_commit(world, text, actor))
    if sha is None:
        raise Refused(422, "merge conflict between base and head")
    pull.repository.git.set_ref(f"refs/heads/{pull.head_ref}", sha)
    refs.ref_moved(world, refs.Moved(pull.repository, f"refs/heads/{pull.head_ref}", old, sha, actor))
    return sha


def queue_for_merge(world: "World", pull: Pull, actor: User) -> str:
    """The merge queue tries the pull request on a branch of its own; that commit's SHA (F-P5)."""
    repository = pull.repository
    text = f"Merge pull request #{pull.number} from {pull.head_repository.owner.login}/{pull.head_ref}"
    sha = repository.git.merge(pull.base_sha, pull.head_sha, new_commit(world, text, actor))
    if sha is None:
        raise Refused(405, "Pull Request has merge conflicts")
    head_ref = f"refs/heads/gh-readonly-queue/{pull.base_ref}/pr-{pull.number}-{pull.base_sha}"
    repository.git.set_ref(head_ref, sha)
    base_ref = f"refs/heads/{pull.base_ref}"
    group = {"head_sha": sha, "head_ref": head_ref, "base_sha": pull.base_sha, "base_ref": base_ref}
    events.merge_group(world, repository, group, actor)
    return sha


def add_review(world: "World", pull: Pull, state: str, body: str, author: tuple[User, App | None]) -> Review:
    threads.check_text(body, "PullRequestReview", "body", threads.BODY_LIMIT)
    review = Review(
        world.state.new_id(), pull, author[0], body, state.lower(), pull.head_sha, world.clock.now_ms(), author[1]
    )
    pull.reviews.append(review)
    threads.touch(world, pull.thread)
    if state.lower() != "pending":
        events.review(world, review)
    return review


def add_review_comment(
    world: "World", review: Review, place: tuple[str, int], body: str, reply_to: int | None = None
) -> ReviewComment:
    """`place` is path and line of the head."""
    threads.check_text(body, "PullRequestReviewComment", "body", threads.BODY_LIMIT)
    now = world.clock.now_ms()
    comment = ReviewComment(
        id=world.state.new_id(),
        pull=review.pull,
        user=review.user,
        body=body,
        path=place[0],
        line=place[1],
        commit_id=review.commit_id,
        created_at=now,
        updated_at=now,
        review=review,
        reply_to=reply_to,
        app=review.app,
    )
    review.pull.review_comments.append(comment)
    world.state.review_comments[comment.id] = comment
    events.review_comment(world, comment)
    return comment


def new_commit(world: "World", message: str, actor: User) -> NewCommit:
    return NewCommit(message, Person(actor.login, actor.email), world.clock.now_ms() // 1000)


def _head(world: "World", repository: Repository, head: str) -> tuple[Repository, str]:
    owner, colon, branch = head.partition(":")
    if not colon:
        return repository, head
    if owner == repository.owner.login:
        return repository, branch
    for found in world.state.repositories.values():
        if found.owner.login == owner and found.fork_of is repository:
            return found, branch
    raise invalid("PullRequest", "head")
