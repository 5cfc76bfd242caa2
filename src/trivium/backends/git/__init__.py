"""Git as a subprocess. Never asks a person, never writes a credential to disk, never shows one in an error."""

import base64
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from trivium.errors import BackendUnavailable, InvalidInput
from trivium.ports.repositories import Checkout, Credentials

TIMEOUT_S = 900.0
PROTOCOLS = "https:http:ssh:git:file"  # not `ext`, which runs commands
_IN_WEB_URL = re.compile(r"(https?://)[^/@\s]+@")
_PASSWORD = re.compile(r"(\w+://[^/@:\s]+):[^/@\s]+@")


class SubprocessGit:
    def __init__(self, known: Mapping[str, Credentials] | None = None) -> None:
        """`known`: credentials by `scheme://host`, for requests that bring none of their own. Beyond that, git's own
        credential helpers are asked."""
        self._known = dict(known or {})

    def fetch(self, url: str, branch: str | None, folder: Path, credentials: Credentials | None) -> None:
        if not (folder / ".git").is_dir():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            self._run(["init", "--quiet"], folder)
        wanted = f"refs/heads/{branch}" if branch else "HEAD"
        fetched = ["fetch", "--quiet", "--depth", "1", "--force", "--no-tags", "--", url, wanted]
        self._run(fetched, folder, _header(url, credentials or self._known.get(_host(url))))
        self._run(["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"], folder)
        self._run(["clean", "--quiet", "-ffdx"], folder)

    def describe(self, folder: Path) -> Checkout:
        try:
            top = self._run(["rev-parse", "--show-toplevel"], folder)
            if Path(top).resolve() != folder.resolve():
                return Checkout()
            url = self._asked(["config", "--get", "remote.origin.url"], folder)
            branch = self._asked(["symbolic-ref", "--quiet", "--short", "HEAD"], folder)
            return Checkout(_without_credentials(url), branch, self._asked(["rev-parse", "HEAD"], folder))
        except (BackendUnavailable, InvalidInput):
            return Checkout()

    def _asked(self, words: Sequence[str], folder: Path) -> str:
        try:
            return self._run(words, folder)
        except InvalidInput:
            return ""

    def _run(self, words: Sequence[str], folder: Path, secret: dict[str, str] | None = None) -> str:
        environment = os.environ | {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",
            "GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ConnectTimeout=20"),
            "GIT_ALLOW_PROTOCOL": PROTOCOLS,
            "LC_ALL": "C",
        }
        command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=60"]
        try:
            done = subprocess.run(
                [*command, *words],
                cwd=folder,
                env=environment | (secret or {}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError as error:
            raise BackendUnavailable("git is not installed", hint="install git, or index a folder") from error
        except subprocess.TimeoutExpired as error:
            raise BackendUnavailable(f"git {words[0]} took longer than {TIMEOUT_S:.0f} s") from error
        if done.returncode:
            said = _without_credentials(done.stderr.strip().rpartition("\n")[2] or f"exit code {done.returncode}")
            raise InvalidInput(
                f"git {words[0]} failed: {said}",
                field="source",
                code="GIT_FAILED",
                hint="check the address, the branch and your access",
            )
        return done.stdout.strip()


def known_credentials(addresses: str) -> dict[str, Credentials]:
    """`https://user:token@host` addresses, as in git's own store of credentials, by the host each is for."""
    found: dict[str, Credentials] = {}
    for number, address in enumerate(addresses.split(), start=1):
        try:
            parts = urlsplit(address)
            secret = Credentials(unquote(parts.username or ""), unquote(parts.password or ""))
        except ValueError:
            parts, secret = urlsplit(""), Credentials("", "")
        if parts.scheme not in ("http", "https") or not parts.hostname or not (secret.user or secret.password):
            raise InvalidInput(  # without the address: it is a secret
                f"git_credentials: address {number} is not of the form https://user:token@host", field="git_credentials"
            )
        found[_host(address)] = secret
    return found


def _host(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()


def _header(url: str, credentials: Credentials | None) -> dict[str, str]:
    """Credentials as a setting that lives in the environment of one process, for one host."""
    if credentials is None:
        return {}
    parts = urlsplit(url)
    packed = base64.b64encode(f"{credentials.user}:{credentials.password}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{parts.scheme}://{parts.netloc}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {packed}",
    }


def _without_credentials(text: str) -> str:
    return _PASSWORD.sub(r"\1@", _IN_WEB_URL.sub(r"\1", text))
