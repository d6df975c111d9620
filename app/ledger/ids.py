"""Our own ids: 26-character ULIDs, sortable by time, safe in branch names, job ids and URLs (DB-4)."""

import secrets

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_id(now_ms: int) -> str:
    """A ULID of 48 bits of `now_ms` (UTC milliseconds) and 80 random bits, in upper case."""
    number = (now_ms & (1 << 48) - 1) << 80 | secrets.randbits(80)
    return "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))
