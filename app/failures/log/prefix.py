"""Cut container and task prefixes (buildx, compose, turbo, nx, lerna, pnpm); each prefix is a stream of its own."""

import re

MAX_DEPTH = 3
_ENOUGH = 2  # lines above that share the prefix: with the line itself 3 in about 20 (CL-1)

# Shapes that no tool prints but the one that owns them.
_SURE = re.compile(r"(#\d{1,4}) \d{1,6}\.\d{1,3} ")
_SHAPES = re.compile(
    r"[A-Za-z0-9][\w.-]{0,60}[-_]\d{1,3} {1,40}\|(?: |$)"
    r"|(?:@[\w.-]{1,60}/)?[A-Za-z][\w.-]{0,60}(?::[A-Za-z][\w.-]{0,40}){1,3}:(?: |$)"
    r"|\[[A-Za-z@][\w@./-]{1,60}\]:? (?!›)"
    r"|(?:[\w@.-]{1,40}/){1,4}[\w-]{1,60} [a-z][\w:-]{0,30}: |@[\w.-]{1,40}/[\w-]{1,60}: "
    r"|[a-z][\w.-]{0,60} {1,40}\| "
)
_NO_PREFIX = re.compile(
    r"\[?(?:error|err|info|information|warn|warning"
    r"|debug|fatal|trace|fail|failure|failed|ok|pass"
    r"|passed|xfail|junit|javac"
    r"|java|exec|echo|gw|npm|note|caused|at|in|undefined|expected|actual|critical|self|section|command|group)\b|\[gw\d",
    re.IGNORECASE,
)
_ROW = re.compile(r"[^:]{1,80}:(?:error|warning|note|fatal)\b", re.IGNORECASE)


def candidate(text: str) -> re.Match[str] | None:
    """The prefix that a line may have; None for most lines."""
    shape = _SHAPES.match(text)
    return None if shape is None or _NO_PREFIX.match(text) or _ROW.match(text) else shape


def split(text: str, log: bytes, first: int, last: int) -> tuple[str, str]:
    """Stream name ("" is the main stream) and the text without its prefixes.

    `log[first:last]` is the raw text before the line: an unsure prefix counts only when lines above share it.
    """
    stream = ""
    if text.startswith("nl") and not text[2:3].isalnum() and log.count(b"\nnl", first, last) > _ENOUGH:
        text = text[2:]  # a stray terminal capability (section 4.2, step 9)
    if ":" not in text and "|" not in text and text[:1] not in ("[", "#"):
        return stream, text
    for _ in range(MAX_DEPTH):
        found = _SURE.match(text)
        if found is None:
            found = candidate(text)
            if found is None or log.count(found[0].strip().encode(), first, last) < _ENOUGH:
                break
        name = found[1] if found.re is _SURE else found[0].strip(" |:[]")
        stream, text = f"{stream}/{name}", text[found.end() :]
        if not text:
            break
    return stream, text
