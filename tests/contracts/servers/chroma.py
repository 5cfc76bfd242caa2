"""Chroma: `chroma run` of the wheel chromadb, in a virtual environment of its own beside the tests' cache."""

import subprocess
import sys
from pathlib import Path

from servers import Server, Unavailable, cache_folder, free_port


def start(folder: Path) -> Server:
    port = free_port()
    data = folder / "data"
    data.mkdir(exist_ok=True)
    command = [str(_program()), "run", "--path", str(data), "--host", "127.0.0.1", "--port", str(port)]
    return Server(f"chroma://127.0.0.1:{port}", command, folder, _answers).start()


def _program() -> Path:
    beside = Path(sys.executable).with_name("chroma")
    if beside.exists():
        return beside
    environment = cache_folder("chroma") / "venv"
    program = environment / "bin" / "chroma"
    if not program.exists():
        _run("uv", "venv", "--quiet", "--allow-existing", str(environment), "--python", sys.executable)
        _run("uv", "pip", "install", "--quiet", "--python", str(environment / "bin" / "python"), "chromadb>=1.0")
    return program


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f"the wheel chromadb cannot be installed: {error}") from error


def _answers(url: str) -> None:
    import httpx

    httpx.get(url.replace("chroma://", "http://") + "/api/v2/heartbeat").raise_for_status()
