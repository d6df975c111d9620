"""A real remote for the tests: a bare repository on disk, and git's own HTTP backend with a token in front of it."""

import base64
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

_ENV = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
}


def git(folder: Path, *args: str, stdin: bytes | None = None) -> str:
    """Plain git as a person would call it, in `folder`; its output without the last newline."""
    done = subprocess.run(["git", *args], cwd=folder, env=_ENV, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")


class Origin:
    """A bare repository with a work tree beside it, from which people push."""

    def __init__(self, folder: Path) -> None:
        self.bare = folder / "acme" / "shop.git"
        self.work = folder / "person"
        self.bare.mkdir(parents=True)
        self.work.mkdir()
        git(self.bare, "init", "--bare", "--quiet", "-b", "main")
        git(self.work, "init", "--quiet", "-b", "main")
        git(self.work, "remote", "add", "origin", str(self.bare))

    @property
    def url(self) -> str:
        return str(self.bare)

    def commit(self, files: dict[str, bytes | None], branch: str = "main", message: str = "Change") -> str:
        """Write files (None removes one), commit and push them to a branch; the SHA."""
        head = git(self.work, "symbolic-ref", "--short", "HEAD")
        if branch != head:
            git(self.work, "checkout", "--quiet", "-B", branch)
        for name, content in files.items():
            path = self.work / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        git(self.work, "add", "-A", "-f")
        git(self.work, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", message)
        git(self.work, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
        return git(self.work, "rev-parse", "HEAD")

    def sha(self, branch: str) -> str:
        return git(self.bare, "rev-parse", f"refs/heads/{branch}")


class GitServer:
    """`git http-backend` on a loopback port; every request needs the token, pushes can be forbidden."""

    def __init__(self, root: Path, token: str) -> None:
        self.seen: list[tuple[str, list[str]]] = []
        self.answers: list[int] = []
        handler = type("Handler", (_Handler,), {"owner": self, "root": root, "token": token})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    owner: ClassVar[GitServer]
    root: ClassVar[Path]
    token: ClassVar[str]
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        headers = self.headers.get_all("Authorization") or []
        self.owner.seen.append((self.path, headers))
        wanted = "Basic " + base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        body = self._body()
        if self.owner.answers:
            self._refuse(self.owner.answers.pop(0))
        elif headers != [wanted]:
            self._refuse(401)
        else:
            self._backend(body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _refuse(self, status: int) -> None:
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="GitHub"')
        if status in (301, 302):
            self.send_header("Location", "http://127.0.0.1:1/elsewhere.git/info/refs?service=git-upload-pack")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _backend(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        env = {
            "PATH": "/usr/bin:/bin",
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "app",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
        }
        env = {key: value for key, value in env.items() if value}
        out = subprocess.run([_backend_program()], env=env, input=body, capture_output=True, check=False).stdout
        head, _, content = out.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n") if line]
        status = next((int(value[:3]) for name, _, value in lines if name == "Status"), 200)
        self.send_response(status)
        for name, _, value in lines:
            if name != "Status":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing: tests read `seen`."""


def _backend_program() -> str:
    folder = subprocess.run(["git", "--exec-path"], env=_ENV, capture_output=True, check=True).stdout.decode().strip()
    return os.path.join(folder, "git-http-backend")
