"""Which layer of the operating system surrounds a worker here: the strongest that really works, tried once."""

import logging
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Layer = Literal["bwrap", "confined", "limits", "none"]
LAYERS: tuple[Layer, ...] = ("bwrap", "confined", "limits")
LAUNCHER = Path(__file__).with_name("launcher.py")
_TRIAL_S = 20.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Isolation:
    """`start` is a script with `text` that runs in place of the interpreter; `folder` holds it and goes with it."""

    layer: Layer
    start: Path | None
    folder: Path | None = None
    text: str = ""

    def keep(self) -> None:
        """Writes the script again where it is gone: systems clear folders for temporary files after some days."""
        if self.start is not None and not self.start.exists():
            self.start.parent.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
            self.start.write_text(self.text, encoding="utf-8")
            self.start.chmod(stat.S_IRWXU)

    def remove(self) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def isolate(memory_bytes: int, wanted: Layer | Literal["auto"] = "auto") -> Isolation:
    """The strongest layer that starts a worker here, or the wanted one. A file called bwrap proves nothing: containers
    often forbid what it needs, so each layer has to answer before it is chosen."""
    if os.name != "posix" or wanted == "none":
        return Isolation("none", None)
    for layer in LAYERS if wanted == "auto" else (wanted,):
        bwrap = shutil.which("bwrap") or "-"
        if layer == "bwrap" and bwrap == "-":
            continue
        made = _write(layer, memory_bytes, bwrap)
        if made is not None and _answers(made):
            return made
        if made is not None:
            made.remove()
    if wanted != "auto":
        raise OSError(f"the layer {wanted!r} does not work on this machine")
    logger.warning("no layer of the operating system works here; programs run in the interpreter's own sandbox alone")
    return Isolation("none", None)


def _write(layer: Layer, memory_bytes: int, bwrap: str) -> Isolation | None:
    """A pool starts one file without arguments of ours, so they are written into one."""
    from pydantic_monty._binary import find_monty_binary

    words = [sys.executable, "-I", "-S", str(LAUNCHER), layer, str(memory_bytes), bwrap]
    words.append(os.path.realpath(find_monty_binary()))
    try:
        folder = Path(tempfile.mkdtemp(prefix="trivium-sandbox-"))
        made = Isolation(layer, folder / "worker", folder, f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        made.keep()
    except OSError as error:
        logger.warning("no worker can be started from the folder for temporary files: %s", error)
        return None
    return made


def _answers(made: Isolation) -> bool:
    """Whether the interpreter starts inside this layer and computes."""
    assert made.start is not None
    try:
        done = subprocess.run(
            [made.start, "-c", "print(6 * 7)"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_TRIAL_S,
            env={},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        logger.info("layer %s does not work here: %s", made.layer, error)
        return False
    logger.debug("layer %s answered %r", made.layer, done.stdout)
    return done.returncode == 0 and done.stdout.strip() == b"42"
