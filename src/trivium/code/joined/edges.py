"""The edges between one repository and those it uses: imports, calls, inheritance, references, in both directions."""

from collections.abc import Sequence

from trivium.code.edges import EdgeSet
from trivium.code.joined.program import JoinedLinked, JoinedSymbols, Source, languages_of, repository_of
from trivium.code.solver.solve import solve
from trivium.code.typed_calls import TypedProgram
from trivium.model.code import Edge

_TYPED = frozenset({"java", "go", "rust", "csharp", "php", "ruby"})  # C and C++ say nothing of who publishes a header


def joined_edges(consumer: Source, producers: Sequence[Source]) -> list[Edge]:
    """Edges with one end in the consumer and the other in a producer. Deterministic, as both analyses are.

    A producer may call back: a function that was handed over, a method that the consumer overrides.
    """
    sources = [consumer, *producers]
    edges = EdgeSet(JoinedSymbols(sources))
    for language in languages_of(sources):
        linked = JoinedLinked(sources, language)
        if linked:
            _add_imports(edges, linked)
            edges.add_solution(linked, solve(linked.program))  # type: ignore[arg-type]  # asked for the same names
    _add_typed(edges, sources)
    return [edge for edge in edges.all() if _is_between(edge, consumer.repository)]


def _add_imports(edges: EdgeSet, linked: JoinedLinked) -> None:
    for unit, facts in enumerate(linked.units):
        for written in facts.imports:
            for target in linked.files(unit, written):
                path = linked.units[target].path
                edges.add(edges.symbols.file(facts.path), edges.symbols.file(path), "imports", written.line, "exact")


def _add_typed(edges: EdgeSet, sources: Sequence[Source]) -> None:
    consumer, *producers = sources
    spoken = {facts.language for facts in consumer.facts} & _TYPED
    languages = frozenset(word for word in spoken if any(word in producer.names for producer in producers))
    if languages:
        units = [facts for source in sources for facts in source.placed(languages)]
        configs = {path: raw for source in sources for path, raw in source.placed_configs().items()}
        edges.add_typed(TypedProgram(units, configs))


def _is_between(edge: Edge, consumer: str) -> bool:
    ends = repository_of(edge.source), repository_of(edge.target)
    return consumer in ends and ends[0] != ends[1] and "" not in ends
