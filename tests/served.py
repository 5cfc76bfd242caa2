"""A server over a small corpus, and a real client in front of it. Imported by the conftest files that need it."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from fastmcp import Client, FastMCP

from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.doors.mcp.gate import Gate
from trivium.doors.mcp.server import build_server, open_gate
from trivium.settings import Settings

TOPICS = ("authentication", "storage", "networking", "billing", "monitoring", "backup")
CATEGORIES = ("security", "guides", "contracts")
SENTENCE = "The {topic} service of team {number} keeps {topic} records, rotates its keys and reports to the board."


def write_corpus(folder: Path, documents: int = 90) -> None:
    for number in range(documents):
        topic = TOPICS[number % len(TOPICS)]
        category = CATEGORIES[number % len(CATEGORIES)]
        body = " ".join(SENTENCE.format(topic=topic, number=number + part) for part in range(12))
        text = (
            f"---\ncategory: {category}\ndate: 20{10 + number % 15}-0{1 + number % 9}-15\n"
            f"vendor: vendor{number % 4}\n---\n"
            f"# {topic.title()} handbook {number}\n\n{body}\n\n## Details {number}\n\n{body}\n\n{body}\n\n{body}\n"
        )
        path = folder / category / f"{topic}-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def open_small(settings: Settings) -> App:
    return open_app(settings, lambda name: HashingEmbedder())


@dataclass
class Served:
    """`call` goes through an MCP client in memory; `gate` is the same server's inside."""

    gate: Gate
    server: FastMCP
    data: Path

    def call(
        self, tool: str, *, client_name: str = "pytest", mode: str = "auto", **arguments: Any
    ) -> mcp_types.CallToolResult:
        async def run() -> mcp_types.CallToolResult:
            info = mcp_types.Implementation(name=client_name, version="1")
            async with Client(self.server, client_info=info, mode=mode) as client:
                return await client.call_tool_mcp(tool, arguments)

        return asyncio.run(run())

    def body(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content, whether answer or error."""
        content = self.call(tool, **arguments).structured_content
        assert content is not None
        return content

    def search(self, query: str = "authentication keys", **arguments: Any) -> dict[str, Any]:
        return self.body("semantic_search", query=query, **arguments)

    def app(self) -> App:
        return self.gate.opening.get(30)


Serve = Callable[..., Served]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the corpus in it; never written to."""
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder / "docs")
    app = open_small(Settings(data=folder / "data"))
    app.documents.add([folder / "docs"])
    app.embedding.run()
    app.close()
    return folder / "data"


@pytest.fixture
def serve(corpus: Path, tmp_path: Path) -> Iterator[Serve]:
    """Starts servers, each over its own copy of the corpus (or over `data`), with any settings."""
    opened: list[Gate] = []

    def start(data: Path | None = None, **given: Any) -> Served:
        if data is None:
            data = tmp_path / f"served{len(opened)}"
            shutil.copytree(corpus, data)
        given.setdefault("toolsets", "knowledge")
        given.setdefault("low_quality_threshold", 0.0)  # the small embedder scores low
        settings = Settings(data=data, **given)
        gate = open_gate(settings, lambda: open_small(settings))
        opened.append(gate)
        return Served(gate, build_server(gate), data)

    yield start
    for gate in opened:
        gate.close()


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve()
