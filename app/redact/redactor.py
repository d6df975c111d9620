"""Replace secrets by words that name their kind, in a text or in a stream of bytes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.redact.encoded import decoded_runs
from app.redact.known import PART, KnownSecrets
from app.redact.patterns import ANY_FORMAT, FORMATS, PEM_BEGIN, PEM_BODY, PEM_END, PEM_MAX_BYTES, compile_bytes
from app.redact.view import BREAK, NOISE, NOISE_OR_BREAK, View

_TOKEN = compile_bytes(rb"[A-Za-z0-9_.+/=-]{8,}")
_TOKEN_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+/=-"
_DECODINGS = 2
_BLOCK = 64 * 1024
_OVERLAP = PEM_MAX_BYTES + 1024
_LONGEST_SPAN = 128 * 1024
# Inside `Redactor` the name `bytes` is its method.
Bytes = bytes


@dataclass(frozen=True)
class Hit:
    """One secret in a text: byte span and kind."""

    start: int
    end: int
    kind: str


class Redactor:
    """`known` are exact values (tokens, keys); the formats of `patterns.py` are looked for besides."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = KnownSecrets(known)

    def text(self, text: str) -> str:
        """`text` with each secret replaced by `[redacted: <kind>]`; text without one comes back as it is."""
        data = text.encode("utf-8", "surrogatepass")
        clean = self.bytes(data)
        return text if clean is data else clean.decode("utf-8", "replace")

    def bytes(self, data: Bytes) -> Bytes:
        """As `text`, for raw bytes in any ASCII-based encoding."""
        hits = self.find(data)
        return _replace(data, hits) if hits else data

    def kinds(self, text: str) -> list[str]:
        """The kinds of secret in `text`, in order, each once; the outbound scan asks this (RD7)."""
        return list(dict.fromkeys(hit.kind for hit in self.find(text.encode("utf-8", "surrogatepass"))))

    def stream(self) -> "Stream":
        """A new stream that redacts what is fed to it."""
        return Stream(self)

    def chunks(self, chunks: Iterable[Bytes]) -> Iterator[Bytes]:
        """Redacted chunks; a secret that lies over the edge of two is found."""
        stream = self.stream()
        for chunk in chunks:
            if clean := stream.feed(chunk):
                yield clean
        if rest := stream.close():
            yield rest

    def find(self, data: Bytes) -> list[Hit]:
        """All secrets in `data`, in order, without overlaps."""
        return _merge(self._search(data, _DECODINGS))

    def _search(self, data: Bytes, decodings: int) -> Iterator[Hit]:
        plain = View(data, NOISE)
        yield from _located(plain, _formats(plain.data))
        joined = View(data, NOISE_OR_BREAK)
        yield from _located(joined, self._known_values(joined.data))
        yield from _located(joined, _wrapped_formats(joined))
        yield from _located(joined, self._encoded(joined.data, decodings))

    def _search_decoded(self, data: Bytes, decodings: int) -> Iterator[Hit]:
        yield from _formats(data)
        yield from self._known_values(data)
        if decodings:
            yield from self._encoded(data, decodings)

    def _known_values(self, data: Bytes) -> Iterator[Hit]:
        return (Hit(start, end, "known secret") for start, end in self._known.find(data))

    def _encoded(self, data: Bytes, decodings: int) -> Iterator[Hit]:
        """Secrets inside base64 or hexadecimal text, at every alignment of it."""
        runs = list(decoded_runs(data))
        # One pass over everything decoded: the runs of an ordinary text (hashes) hold nothing, and there are many.
        if not runs or not any(self._search_decoded(b"\n".join(run.data for run in runs), decodings - 1)):
            return
        for run in runs:
            for hit in self._search_decoded(run.data, decodings - 1):
                yield Hit(*run.encoded_span(hit.start, hit.end), hit.kind)


class Stream:
    """Redacts a stream of bytes; it keeps back enough of the end that no secret is cut (GH-23)."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._kept = b""
        self._in_endless = False

    def feed(self, chunk: bytes) -> bytes:
        """The redacted text that is safe to hand out now; may be empty."""
        if self._in_endless:
            chunk = chunk.lstrip(_TOKEN_LETTERS)
            self._in_endless = not chunk
        self._kept += chunk
        if len(self._kept) < _BLOCK:
            return b""
        cut = len(self._kept) - _OVERLAP
        hits = self._redactor.find(self._kept)
        for hit in hits:
            if hit.start < cut < hit.end:
                endless = len(self._kept) - hit.start >= _LONGEST_SPAN
                self._in_endless = endless and hit.end == len(self._kept)
                cut = hit.end if endless else hit.start
        out = _replace(self._kept[:cut], [hit for hit in hits if hit.end <= cut])
        self._kept = self._kept[cut:]
        return out

    def close(self) -> bytes:
        """The rest."""
        rest, self._kept = self._redactor.bytes(self._kept), b""
        return rest


def _located(view: View, hits: Iterable[Hit]) -> Iterator[Hit]:
    return (Hit(*view.origin(hit.start, hit.end), hit.kind) for hit in hits)


def _formats(data: bytes) -> Iterator[Hit]:
    yield from _private_keys(data)
    if not ANY_FORMAT.search(data):
        return
    for known in FORMATS:
        for match in known.pattern.finditer(data):
            start, end = match.span(known.group)
            yield Hit(start, _continued(data, end) if known.wraps else end, known.kind)


def _continued(data: bytes, end: int) -> int:
    """Where a token ends that fills its line up to `end`: a next line that looks like its rest belongs to it."""
    while (gap := BREAK.match(data, end)) and (rest := _TOKEN.match(data, gap.end())):
        word = rest.group()
        fills_line = data[rest.end() : rest.end() + 1] in (b"", b"\r", b"\n", b"\\", b'"', b"'")
        mixed = len(word) >= PART and word != word.lower() and word != word.upper()
        if not any(byte in b"0123456789" for byte in word) or not (fills_line or mixed):
            break
        end = rest.end()
    return end


def _wrapped_formats(view: View) -> Iterator[Hit]:
    """Formats that only show once the line breaks inside them are gone."""
    if not ANY_FORMAT.search(view.data):
        return
    for known in FORMATS:
        if not known.wraps:
            continue
        for match in known.pattern.finditer(view.data):
            start, end = match.span(known.group)
            cut = view.cut_in(start, end)
            if cut is not None and not known.pattern.match(view.data[start:cut]):
                yield Hit(start, end, known.kind)


def _private_keys(data: bytes) -> Iterator[Hit]:
    at = 0
    while begin := PEM_BEGIN.search(data, at):
        end = PEM_END.search(data, begin.end(), begin.end() + PEM_MAX_BYTES)
        at = end.end() if end else PEM_BODY.match(data, begin.end()).end()
        yield Hit(begin.start(), at, "private key")


def _merge(hits: Iterable[Hit]) -> list[Hit]:
    merged: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if merged and hit.start < merged[-1].end:
            merged[-1] = Hit(merged[-1].start, max(merged[-1].end, hit.end), merged[-1].kind)
        else:
            merged.append(hit)
    return merged


def _replace(data: bytes, hits: list[Hit]) -> bytes:
    out: list[bytes] = []
    last = 0
    for hit in hits:
        out += (data[last : hit.start], b"[redacted: %s]" % hit.kind.encode())
        last = hit.end
    out.append(data[last:])
    return b"".join(out)
