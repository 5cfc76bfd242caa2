"""Rankings, cached in blocks: one search serves every page and every response mode that lies within its block."""

import json
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field, replace

from pydantic_core import to_json

from trivium.doors.mcp.tools import Call
from trivium.errors import DeadlineExceeded
from trivium.model.chunk import Chunk
from trivium.model.hits import Hit, Ranking, SearchQuery
from trivium.ports.results import Codec

BLOCK = 50  # the largest page, so that a page touches at most two blocks
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a ranking, and those of its chunks that were needed so far."""

    ranking: Ranking
    chunks: dict[int, Chunk] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """The chunks belong to the hits one by one; `ranking` is any block of it, for what holds for all of it."""

    ranking: Ranking
    hits: tuple[Hit, ...]
    chunks: tuple[Chunk, ...]
    cache_hit: bool


def page(call: Call, query: SearchQuery, generation: int) -> Page:
    """The page as of `generation` or later: where chunks vanish while it is put together, it is done again."""
    for _ in range(_TRIES):
        found = _collect(call, query, generation)
        if found is not None:
            return found
        generation = call.app.chunks.generation()
    raise DeadlineExceeded("the index changes faster than it can be read", hint="try again in a moment")


def _collect(call: Call, query: SearchQuery, generation: int) -> Page | None:
    blocks, cache_hit = _blocks(call, query, generation)
    end = query.offset + query.limit
    pairs = [(hit, block) for block in blocks for hit in block.ranking.hits if query.offset < hit.rank <= end]
    for block in blocks:
        _load(call, block, [hit.chunk_id for hit, owner in pairs if owner is block])
    if any(hit.chunk_id not in block.chunks for hit, block in pairs):
        return None
    return Page(
        blocks[0].ranking,
        tuple(hit for hit, _ in pairs),
        tuple(block.chunks[hit.chunk_id] for hit, block in pairs),
        cache_hit,
    )


def _blocks(call: Call, query: SearchQuery, generation: int) -> tuple[list[Block], bool]:
    first, last = query.offset // BLOCK, (query.offset + query.limit - 1) // BLOCK
    epoch = call.services.cache_epoch()
    blocks, hits = [], []
    for number in range(first, last + 1):
        wanted = replace(query, offset=number * BLOCK, limit=BLOCK)
        block, hit = _one(call, wanted, generation, epoch)
        call.services.guard.metrics.count("cache_requests_total", result="hit" if hit else "miss")
        blocks.append(block)
        hits.append(hit)
        if block.ranking.total <= (number + 1) * BLOCK:
            break
    return blocks, all(hits)


def _one(call: Call, wanted: SearchQuery, generation: int, epoch: int) -> tuple[Block, bool]:
    try:
        return call.services.rankings.get(
            (wanted, generation, epoch), lambda: Block(call.app.search.search(wanted)), call.deadline.left_s
        )
    except TimeoutError:
        raise call.deadline.exceeded() from None


def _load(call: Call, block: Block, chunk_ids: Sequence[int]) -> None:
    missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in block.chunks]
    if missing:
        for chunk in call.app.chunks.get(missing):
            block.chunks[chunk.chunk_id] = chunk


def _encoded(block: Block) -> bytes:
    """Without the query, which is part of the key, and the chunks, which every process reads for itself."""
    ranking = asdict(replace(block.ranking, query=SearchQuery("")))
    del ranking["query"]
    return to_json(ranking, inf_nan_mode="constants")


def _decoded(key: Hashable, stored: bytes) -> Block | None:
    query = key[0] if isinstance(key, tuple) else None
    try:
        fields = json.loads(stored)
        hits = tuple(Hit(**hit) for hit in fields.pop("hits"))
        return Block(Ranking(query=query, hits=hits, **fields)) if isinstance(query, SearchQuery) else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None  # written by something else: computed again


# A ranking without its vector side is right only until that is back, which no generation tells.
BLOCKS: Codec[Block] = Codec(_encoded, _decoded, keeps=lambda block: block.ranking.degraded is None)
