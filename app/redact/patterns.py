"""The formats of secrets that Remedy knows, as google-re2 patterns (GH-23, RD2)."""

from dataclasses import dataclass

import re2


def compile_bytes(pattern: bytes) -> "re2._Regexp":
    """One linear-time pattern over raw bytes; byte values above 127 are plain characters to it."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 * 1024 * 1024
    options.log_errors = False
    return re2.compile(pattern, options)


@dataclass(frozen=True)
class Format:
    """One secret format; `group` is what is replaced, `wraps` says whether a line break may sit inside it."""

    kind: str
    pattern: "re2._Regexp"
    group: int = 0
    wraps: bool = True


def _format(kind: str, *alternatives: bytes, group: int = 0, wraps: bool = True) -> Format:
    return Format(kind, compile_bytes(b"|".join(alternatives)), group, wraps)


# Lengths are minima: the 2026 installation token has about 520 characters (F-T4).
FORMATS: tuple[Format, ...] = (
    _format(
        "github token",
        rb"ghs_[A-Za-z0-9_.-]{36,}",
        rb"gh[pour]_[A-Za-z0-9_]{20,}",
        rb"github_pat_[A-Za-z0-9_]{20,}",
    ),
    _format("json web token", rb"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+"),
    _format(
        "cloud key",
        rb"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA)[A-Z0-9]{16}\b",
        rb"AIza[0-9A-Za-z_-]{35}",
        rb"\bya29\.[0-9A-Za-z_-]{20,}",
        rb"GOCSPX-[0-9A-Za-z_-]{20,}",
        rb"\bdo[opr]_v1_[a-f0-9]{64}",
    ),
    _format(
        "cloud key",
        rb"(?i)(?:aws_?secret_?access_?key|AccountKey|SharedAccessKey)[\"']?\s{0,4}[:=]\s{0,4}[\"']?([A-Za-z0-9+/=]{40,})",
        group=1,
        wraps=False,
    ),
    _format(
        "model key",
        rb"\bsk-[A-Za-z0-9_-]{20,}",
        rb"\bgsk_[A-Za-z0-9]{20,}",
        rb"\bhf_[A-Za-z0-9]{30,}",
        rb"\bxai-[A-Za-z0-9]{40,}",
        rb"\br8_[A-Za-z0-9]{30,}",
    ),
    _format(
        "registry token",
        rb"\bnpm_[A-Za-z0-9]{36,}",
        rb"\bpypi-[A-Za-z0-9_-]{50,}",
        rb"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}",
        rb"\bgl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_.-]{20,}",
        rb"\brubygems_[a-f0-9]{48}",
        rb"\bcio[A-Za-z0-9]{32}\b",
    ),
    _format("registry token", rb"_authToken\s{0,4}=\s{0,4}[\"']?([A-Za-z0-9+/=_.-]{8,})", group=1, wraps=False),
    _format(
        "service token",
        rb"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
        rb"\bxapp-[A-Za-z0-9-]{20,}",
        rb"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
        rb"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    ),
    _format(
        "webhook address",
        rb"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]+",
        rb"https://(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]+",
        rb"https://[A-Za-z0-9-]+\.webhook\.office\.com/[A-Za-z0-9@/_-]+",
    ),
    _format("password in a url", rb"://([^/@\s:\"<>`]*:[^/@\s\"<>`]+)@", group=1, wraps=False),
    _format("signed url", rb"[?&]sig=([A-Za-z0-9%+/=_-]{20,})", group=1, wraps=False),
    _format(
        "authorization header",
        rb"(?i)authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:basic|bearer|token)\s{1,4}([A-Za-z0-9._~+/=-]{8,})",
        group=1,
        wraps=False,
    ),
)

# Run before the table: one pass tells whether a block needs the table at all.
ANY_FORMAT = compile_bytes(
    b"|".join(
        (
            rb"gh[pours]_|github_pat_|eyJ|AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|AIza|ya29\.|GOCSPX-|do[opr]_v1_|sk-|gsk_|hf_",
            rb"xai-|r8_|npm_|pypi-|dckr_|gl(?:pat|dt|rt|cbt|ptt)-|rubygems_|\bcio|_authToken|xox[abeoprs]-|xapp-",
            rb"[rs]k_(?:live|test)_|SG\.|https://hooks\.|/api/webhooks/|webhook\.office|://[^/@\s]*@|[?&]sig=",
            rb"(?i)authorization|secret_?access_?key|AccountKey|SharedAccessKey",
        )
    )
)

PEM_BEGIN = compile_bytes(rb"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
PEM_END = compile_bytes(rb"-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
PEM_BODY = compile_bytes(rb"(?:(?:\s|\\[nr]|\d{4}-\d\d-\d\dT[\d:.]+Z )*[A-Za-z0-9+/=]{16,})*")
PEM_MAX_BYTES = 16 * 1024
