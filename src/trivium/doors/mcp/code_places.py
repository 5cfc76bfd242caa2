"""Where chunks of code stand: repository and lines, for the search over everything."""

from collections.abc import Sequence

from trivium.doors.mcp.tools import Body, Call
from trivium.model.chunk import Chunk


def places(call: Call, chunks: Sequence[Chunk]) -> list[Body]:
    """For each chunk `repository`, `start_line` and `end_line`; nothing for one that is no code."""
    paths: dict[str, set[str]] = {}
    for chunk in chunks:
        if chunk.source == "code":
            paths.setdefault(str(chunk.metadata["repository"]), set()).add(chunk.source_file)
    files = {(name, path): f for name, some in paths.items() for path, f in call.app.code.files(name, some).items()}
    found: list[Body] = []
    for chunk in chunks:
        body: Body = {}
        if chunk.source == "code":
            body["repository"] = chunk.metadata["repository"]
            file = files.get((str(body["repository"]), chunk.source_file))
            if file is not None and chunk.chunk_index < len(file.pieces):
                body["start_line"], body["end_line"], _ = file.pieces[chunk.chunk_index]
        found.append(body)
    return found
