"""Something outside the repository: names, TLS, servers, limits, lost runners."""

from app.failures.frameworks.causes.cause import ANY, Cause, cause

CAUSES: tuple[Cause, ...] = (
    cause(
        "infrastructure",
        "network",
        (
            "Could not resolve host",
            "Couldn't resolve host",
            "Temporary failure in name resolution",
            "Temporary failure resolving",
            "unable to resolve host address",
            "Name or service not known",
        ),
        ANY + r"(?:Could(?: not|n't) resolve (?:host|proxy)|Temporary failure (?:in name resolution"
        r"|resolving)|unable to resolve host address|Name or service not known)",
    ),
    cause(
        "infrastructure",
        "network",
        (
            "SSL connect error",
            "SSL_connect",
            "TLS handshake",
            "handshake failure",
            "SSL_ERROR_SYSCALL",
            "ssl3_read_bytes",
            "gnutls_handshake",
        ),
        ANY + r"(?:SSL connect error|SSL_connect|TLS handshake timeout"
        r"|handshake failure|SSL_ERROR_SYSCALL|gnutls_handshake\(\) failed)",
    ),
    cause(
        "infrastructure",
        "network",
        (
            "unable to access 'http",
            "fatal: unable to connect to",
            "Could not read from remote repository",
            "early EOF",
            "RPC failed; ",
            "The remote end hung up",
        ),
        r"(?:fatal: |error: )?(?:unable to access 'https?://.*': (?!The requested URL returned err"
        r"or: 40[134])|unable to connect to|Could not read from remote repository"
        r"|early EOF|RPC failed;|The remote end hung up)",
    ),
    cause(
        "infrastructure",
        "network",
        ("curl: (",),
        r"curl: \((?:5|6|7|18|28|35|52|55|56|92)\) .*"
        r"|curl: \(22\) The requested URL returned error: (?:5\d\d"
        r"|429)",
    ),
    cause(
        "infrastructure",
        "network",
        (
            "Couldn't establish HTTP connection",
            "Network is unreachable",
            "No route to host",
            "dial tcp",
            "i/o timeout",
            "net/http: ",
        ),
        ANY + r"(?:Couldn't establish HTTP connection|Network is unreachable|No route to host"
        r"|dial tcp .*(?:timeout|no such host|refused|reset)|net/http: (?:TLS"
        r"|request canceled))",
    ),
    cause(
        "infrastructure",
        "network",
        ("ENOTFOUND", "EAI_AGAIN", "ECONNRESET", "ETIMEDOUT", "ECONNREFUSED", "ERR_SOCKET_TIMEOUT"),
        r"(?:npm|yarn|pnpm|error).{0,60}?(?:(?:ERR!|error) )?(?:code "
        r"|errno |An unexpected error occurred: ).{0,200}?(?:ENOTFOUND"
        r"|EAI_AGAIN|ECONNRESET|ETIMEDOUT|ECONNREFUSED|ERR_SOCKET_TIMEOUT)",
    ),
    cause(
        "infrastructure",
        "network",
        (
            "502 Bad Gateway",
            "503 Service",
            "504 Gateway",
            "500 Internal Server Error",
            "429 Too Many",
            "toomanyrequests",
            "rate limit exceeded",
            "Rate limit exceeded",
            "429 too many",
        ),
        r"(?:error|ERROR|Error|E:|fatal|npm|curl|W:|Err:|\[ERROR\]"
        r"|> |##).{0,300}?(?:502 Bad Gateway|503 Service|504 Gateway"
        r"|500 Internal Server Error|429 [Tt]oo [Mm]any|toomanyrequests"
        r"|[Rr]ate limit exceeded)|toomanyrequests: ",
    ),
    cause(
        "infrastructure",
        "network",
        (
            "Failed to fetch",
            "Hash Sum mismatch",
            "Unable to connect to",
            "Could not connect to",
            "Failed to connect to",
        ),
        r"(?:E: (?:Failed to fetch|Unable to fetch)|E: .*Hash Sum mismatch"
        r"|W: Failed to fetch|.{0,200}(?:Unable|Could not|Failed) to connect to (?:\S+\.)+\w+(?::"
        r"\d+| port \d+))",
    ),
    cause(
        "infrastructure",
        "network",
        (
            "Could not transfer artifact",
            "Connection timed out",
            "Read timed out",
            "Connection reset by peer",
            "Could not GET 'http",
            "Could not HEAD 'http",
            "ReadTimeoutError",
            "ConnectTimeoutError",
            "NewConnectionError",
            "ConnectionResetError",
        ),
        r"\[ERROR\].*Could not transfer artifact.*(?:timed out|reset"
        r"|refused|status code: 5|handshake|Name or service)|\s*> Could not (?:GET"
        r"|HEAD) 'http|.*pip\._vendor.*(?:ReadTimeoutError|ConnectTimeoutError"
        r"|NewConnectionError)|(?:E|Err|error|ERROR|fatal)\b.{0,200}(?:Connection timed out"
        r"|Connection reset by peer)",
    ),
    cause(
        "infrastructure",
        "network",
        (
            "lost communication with the server",
            "The runner has received a shutdown signal",
            "The hosted runner encountered an error",
            "failed to pull image",
            "Error response from daemon",
            "Docker pull failed",
        ),
        ANY + r"(?:lost communication with the server|The runner has received a shutdown signal"
        r"|The hosted runner encountered an error|Error response from daemon: (?:Get"
        r"|received unexpected|pull access|toomanyrequests|manifest)"
        r"|Docker pull failed)",
    ),
)
