"""Reads the stored graph into an image of it, from one state of the tables."""

import json
from collections.abc import Mapping
from dataclasses import fields

from trivium.graph.image import GraphImage
from trivium.model.code import BlindSpot, BlindSpots, Edge, Symbol
from trivium.ports.sql import SqlConnection

_SYMBOL = ", ".join(field.name for field in fields(Symbol))
_EDGE = ", ".join(field.name for field in fields(Edge))


def load_image(db: SqlConnection, blind_spots: Mapping[str, BlindSpots]) -> GraphImage:
    """Reads everything; the connection must see one state throughout."""
    symbols = [Symbol(*row) for row in db.execute(f"SELECT {_SYMBOL} FROM code_symbols ORDER BY symbol_id")]
    same = {symbol.symbol_id: symbol.symbol_id for symbol in symbols}  # one string an id, however many edges it has
    edges = [
        Edge(same.get(source, source), same.get(target, target), *rest)
        for source, target, *rest in db.execute(f"SELECT {_EDGE} FROM code_edges ORDER BY source, target, relationship")
    ]
    return GraphImage(symbols, edges, blind_spots)


def load_blind_spots(db: SqlConnection) -> dict[str, BlindSpots]:
    rows = db.execute("SELECT repository, blind_spots FROM code_graphs ORDER BY repository")
    return {name: BlindSpots(BlindSpot(*spot) for spot in json.loads(packed)) for name, packed in rows}
