"""Runs inside the sandbox: repeats JSON-RPC lines of an MCP client over stdio to the host's tools over HTTP (RN-39).

Only the standard library; started as `python3 -I -S -c <this file> URL` with the token in MCP_BRIDGE_TOKEN.
"""

import json
import os
import sys
import urllib.request

ANSWER_S = 60


def main(url: str) -> None:
    """One request per line, until stdin ends."""
    token = os.environ.get("MCP_BRIDGE_TOKEN", "")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        try:
            with opener.open(urllib.request.Request(url, line, headers), timeout=ANSWER_S) as response:
                answer = response.read()
        except OSError as error:  # HTTPError is one too
            answer = refused(line, str(error))
        if answer.strip():
            sys.stdout.buffer.write(answer.rstrip(b"\n") + b"\n")
            sys.stdout.buffer.flush()


def refused(line: bytes, why: str) -> bytes:
    """A JSON-RPC error for a request; nothing for a notification."""
    try:
        request_id = json.loads(line).get("id")
    except (ValueError, AttributeError):
        return b""
    if request_id is None:
        return b""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": -32603, "message": why}}).encode()


if __name__ == "__main__":
    main(sys.argv[1])
