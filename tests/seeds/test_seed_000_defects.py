"""What the system behind seeds 000 to 002 promises and does not do: for each of its defects a test that it fails."""

from pathlib import Path

from served import Serve, Served
from trivium.doors.mcp.server import MODULES, load_tools
from trivium.settings import Settings


def test_pages_really_page(served: Served) -> None:
    first = served.search(page_size=10)
    second = served.search(page_size=10, cursor=first["pagination"]["cursor"])
    one, two = ({result["chunk_id"] for result in page["results"]} for page in (first, second))
    assert len(two) == 10
    assert not one & two


def test_fields_do_not_crash(served: Served) -> None:
    for mode in ("ids_only", "metadata", "preview", "full"):
        assert [set(one) for one in served.search(response_mode=mode, fields=["chunk_id"], top_k=2)["results"]] == [
            {"chunk_id"},
            {"chunk_id"},
        ]


def test_authentication_guards_every_tool(serve: Serve) -> None:
    served = serve(toolsets="knowledge,code,concepts")
    served.gate.guard.keys.create("someone")
    for name in served.gate.tools:
        result = served.call(name)
        assert result.is_error, name
        assert "Authentication required" in result.content[0].text, name  # type: ignore[union-attr]


def test_a_good_match_scores_far_above_a_bad_one(served: Served) -> None:
    """There, hybrid scores were raw reciprocal ranks that never passed 0.025."""
    exact = served.search("Billing handbook 3: the billing service keeps billing records and rotates its keys")
    assert exact["results"][0]["hybrid_score"] > 0.3
    assert exact["results"][0]["hybrid_score"] > 2 * max(
        [one["hybrid_score"] for one in served.search("xylophone")["results"]], default=0.0
    )


def test_a_text_finds_itself(served: Served) -> None:
    """There, documents and queries were embedded by different models."""
    [chunk] = served.body("get_chunk", chunk_id=5)["results"]
    [top] = served.search(chunk["chunk_text"][:480], top_k=1, response_mode="full")["results"]
    assert top["similarity_score"] > 0.8


def test_tools_that_are_served_exist(served: Served) -> None:
    """There, a quarter of the promises were documents only."""
    for tool in load_tools(Settings(toolsets=",".join(MODULES))):
        assert callable(tool.function)
        assert tool.description


def test_the_cache_never_outlives_a_write(served: Served, tmp_path: Path) -> None:
    served.search("penguin")
    folder = tmp_path / "birds"
    folder.mkdir()
    (folder / "penguin.md").write_text("# Penguin\n\nThe penguin swims.")
    served.app().documents.add([folder])
    served.app().embedding.run()
    assert served.search("penguin")["results"][0]["source_file"] == "penguin.md"
