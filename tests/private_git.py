"""A git server that wants a login, and a search for what must not be left lying about."""

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from code_repository import write_repository

USER, TOKEN = "someone", "s3cr3t-t0ken"
LOGIN = "Basic " + base64.b64encode(f"{USER}:{TOKEN}".encode()).decode()


class Private(BaseHTTPRequestHandler):
    """`git http-backend`, for those who know the token."""

    def __init__(self, root: Path, *rest: object) -> None:
        self._root = root
        super().__init__(*rest)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body: bytes) -> None:
        if self.headers.get("Authorization") != LOGIN:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="private"')
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        wanted = {
            "GIT_PROJECT_ROOT": str(self._root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=os.environ | wanted, capture_output=True, check=True
        )
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        self.send_response(200)
        for line in head.decode().splitlines():
            name, _, value = line.partition(": ")
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(rest)

    def log_message(self, *_: object) -> None:
        """Nothing on the test's output."""


@contextmanager
def private_repository(folder: Path) -> Iterator[str]:
    """`host:port/path` of a private repository."""
    work = write_repository(folder / "private")
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main"]
    for words in (["init"], ["add", "."], ["commit", "-m", "first"]):
        subprocess.run(["git", *identity, *words], cwd=work, check=True, capture_output=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Private, folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}/private/.git"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def secrets_in(folder: Path) -> list[Path]:
    """The files that hold the token, as it is or as a header carries it."""
    wanted = (TOKEN.encode(), LOGIN.removeprefix("Basic ").encode())
    found = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in found if any(secret in path.read_bytes() for secret in wanted)]
