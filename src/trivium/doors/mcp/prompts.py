"""Prompts: how to work with the knowledge base at little cost."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

if TYPE_CHECKING:
    from fastmcp import FastMCP

_RESEARCH = """\
Research this question in the knowledge base: {question}

1. Scan. Call semantic_search with two or three different wordings, response_mode "metadata", page_size 20. Look at
   source_file, hybrid_score and warnings. LOW_QUALITY_RESULTS means: reword, or say that nothing is known.
2. Read. Choose the few chunks that can answer ({depth} at most). Fetch them with get_chunk; use neighbors=1 where a
   text begins or ends in the middle of a thought.
3. Cite. Answer from what you have read only. After each statement give [source_file#chunk_id]. Name what you looked
   for and did not find, and where sources disagree."""


def add_prompts(server: "FastMCP") -> None:
    @server.prompt
    def research(
        question: Annotated[str, Field(description="What is to be found out")],
        depth: Annotated[int, Field(description="Chunks to read in full")] = 5,
    ) -> str:
        """Scan, read, cite: answer a question from the knowledge base with few tokens."""
        return _RESEARCH.format(question=question, depth=depth)
