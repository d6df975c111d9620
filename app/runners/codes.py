"""The closed list of runner errors (runners.md, 2.2) and the value that carries one."""

from dataclasses import dataclass
from enum import StrEnum

MESSAGE_CHARS = 500
DETAIL_CHARS = 20_000


class Code(StrEnum):
    NOT_INSTALLED = "runner.not_installed"
    BROKEN_MANIFEST = "runner.broken_manifest"
    NOT_READY = "runner.not_ready"
    SANDBOX_UNAVAILABLE = "runner.sandbox_unavailable"
    START_FAILED = "runner.start_failed"
    PROTOCOL = "runner.protocol"
    CRASHED = "runner.crashed"
    TIMEOUT = "runner.timeout"
    CANCELLED = "runner.cancelled"
    SESSION_LOST = "runner.session_lost"
    AUTH_REQUIRED = "runner.auth_required"
    RATE_LIMITED = "provider.rate_limited"
    PROVIDER_FAILED = "provider.failed"
    CONTEXT_OVERFLOW = "provider.context_overflow"
    VALIDATION = "result.validation"
    DENIED = "host.denied"
    GATEWAY_UNREACHABLE = "gateway.unreachable"
    GATEWAY_TOOL = "gateway.tool"
    GATEWAY_ARGUMENTS = "gateway.arguments"
    GATEWAY_AMBIGUOUS = "gateway.ambiguous"
    REMOTE_REFUSED = "remote.refused"
    INTERRUPTED = "interrupted"


RETRYABLE = frozenset(
    {
        Code.NOT_READY,
        Code.START_FAILED,
        Code.CRASHED,
        Code.TIMEOUT,
        Code.SESSION_LOST,
        Code.RATE_LIMITED,
        Code.PROVIDER_FAILED,
        Code.GATEWAY_UNREACHABLE,
        Code.INTERRUPTED,
    }
)
"""A repeat may help; whether and when is the machine's decision (RN-9)."""


@dataclass(frozen=True)
class RunnerError:
    """Why a turn has no answer. `ambiguous` forbids a repeat without a look; `retry_at` is UTC milliseconds."""

    code: Code
    message: str
    detail: str = ""
    retry_at: int | None = None
    ambiguous: bool = False

    def __post_init__(self) -> None:
        """Caps of RN-4: `message` keeps its beginning, `detail` its end."""
        object.__setattr__(self, "message", plain(self.message[:MESSAGE_CHARS]))
        object.__setattr__(self, "detail", plain(self.detail[-DETAIL_CHARS:]))

    @property
    def retryable(self) -> bool:
        return self.code in RETRYABLE


class RunnerFailure(Exception):
    """Carries a RunnerError from where it is seen to the edge of a runner; it never leaves `drive_turn`."""

    def __init__(self, error: RunnerError) -> None:
        super().__init__(error.message)
        self.error = error


def failure(code: Code, message: str, detail: str = "") -> RunnerFailure:
    return RunnerFailure(RunnerError(code, message, detail))


def plain(text: str) -> str:
    """Text that every database takes: without NUL and lone surrogates, which JSON may hold."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def text_of(error: BaseException) -> str:
    """An exception's text, or its type's name where the text is empty (RN-4)."""
    return str(error) or type(error).__name__
