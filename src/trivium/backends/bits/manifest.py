"""The one file that says what the others hold. Replacing it is the commit; what it does not count does not exist."""

import dataclasses
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

from trivium.errors import IndexDamaged, ModelMismatch

NAME = "manifest.json"
FORMAT = "trivium-bits-1"
REBUILD = "run `trivium reindex` to build the vector index again from the store"


@dataclass(frozen=True, slots=True)
class Manifest:
    """`segment` numbers the files of vectors and chunk records, `signs` the file of sign bits (0: none yet). Compaction
    and new axes write files under the next number, so that a reader of the old ones is never disturbed. `origin` tells
    an index from another one that was built later in the same place."""

    dimension: int
    origin: str = ""
    position: int = 0
    segment: int = 1
    rows: int = 0
    records: int = 0
    records_crc: int = 0
    signs: int = 0
    signs_crc: int = 0
    trained_rows: int = 0

    def encoded(self) -> bytes:
        fields = {"format": FORMAT, **dataclasses.asdict(self)}
        return json.dumps({**fields, "checksum": _checksum(fields)}).encode()


def decoded(content: bytes, file: Path, dimension: int) -> Manifest:
    try:
        fields = json.loads(content)
        checksum = fields.pop("checksum")
        sound = fields.get("format") == FORMAT and checksum == _checksum(fields)
        manifest = Manifest(**{name: value for name, value in fields.items() if name != "format"}) if sound else None
    except (ValueError, KeyError, TypeError, AttributeError):
        manifest = None
    if manifest is None:
        raise IndexDamaged(f"{file} is not a manifest of this vector index, or it is damaged", hint=REBUILD)
    if manifest.dimension != dimension:
        message = f"{file} is of vectors with {manifest.dimension} numbers, the model in use makes {dimension}"
        raise ModelMismatch(message, hint=REBUILD)
    return manifest


def replace(folder: Path, manifest: Manifest) -> None:
    temporary = folder / f"{NAME}.new"
    with temporary.open("wb") as file:
        file.write(manifest.encoded())
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, folder / NAME)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _checksum(fields: dict[str, object]) -> int:
    return zlib.crc32(json.dumps(fields, sort_keys=True).encode())
