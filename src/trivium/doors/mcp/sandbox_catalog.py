"""What `search_tools` knows of each function besides its own description: how people ask for it, and what it answers.

A tool that is missing here is found by its description alone; tests see to it that none is missing.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """`asked`: the task in other people's words; `returns`: the fields of an answer, in the notation of a literal."""

    asked: tuple[str, ...]
    returns: str


_CHUNKS = "{results: [{chunk_id, source_file, source_category, chunk_index, total_chunks"
_CONCEPT = "concept_id, name, area, topic, subtopic, certainty_score"

CATALOG: dict[str, Entry] = {
    "semantic_search": Entry(
        (
            "find documents, passages or text about a subject",
            "answer a question from the knowledge base, manuals, contracts, wiki pages",
            "which documents mention a term; look something up; full-text search over everything",
            "search everywhere: files, notes, code and ideas together",
            "filter results by category, vendor or score and page through them",
        ),
        _CHUNKS + ", hybrid_score, rank, chunk_text (mode full)}], pagination: {cursor, has_more, total_available}}",
    ),
    "get_chunk": Entry(
        (
            "read the full text of one search result by its number",
            "open, fetch or show a passage, excerpt or chunk in full",
            "surrounding paragraphs: what comes before and after a passage, more context",
        ),
        _CHUNKS + ", chunk_text, chunk_token_count}]}",
    ),
    "find_vendor_info": Entry(
        (
            "what do we know about a company, vendor, supplier, manufacturer or organisation",
            "products, people, employees, offices, partners, competitors, acquisitions of a company",
            "profile of a firm: who works there, where it is located, what it produces",
        ),
        "{results: {vendor_name, statistics: {entity_count, relationship_count}, top_entities or"
        " entities: [{entity_id, name, entity_type, confidence}],"
        " relationships: [{source_id, target_id, relationship_type}]}}",
    ),
    "add_vendor_facts": Entry(
        (
            "record a fact about a company that you read: an acquisition, a product, a partnership, an employee",
            "save entities and relationships between organisations with their source",
            "write down, correct or remove knowledge about vendors",
        ),
        "{results: {entity_ids, relationship_ids, added, duplicates}}",
    ),
    "search_code": Entry(
        (
            "find source code, functions, classes or snippets that do something",
            "where in the code is something implemented, parsed, opened, retried",
            "search the repository by meaning or by identifier",
        ),
        "{results: [{content, similarity_score,"
        " metadata: {file_path, repository, start_line, end_line, entity_path}}]}",
    ),
    "list_indexed_repositories": Entry(
        (
            "which repositories, repos, codebases or projects are there",
            "list all indexed code with file counts and the date of the last scan",
        ),
        "{repositories: [{name, url, file_count, chunk_count, last_indexed, status}], summary}",
    ),
    "get_dependencies": Entry(
        (
            "what does a file, function or class use, import, call or rely on",
            "outgoing edges: imports of a module, functions called by a function, base classes",
            "which packages or libraries does this need",
        ),
        "{entity, dependencies: [{entity_type, entity_path, relationship_type, depth, line_number}], metadata}",
    ),
    "get_dependents": Entry(
        (
            "who uses, calls or imports this; callers, usages, references, reverse dependencies",
            "impact of a change: what breaks if I modify, rename or remove a function",
            "which files depend on this module",
        ),
        "{entity, dependents: [{entity_type, entity_path, relationship_type, depth, line_number}], impact_analysis}",
    ),
    "get_architecture": Entry(
        (
            "overview of a project: its structure, modules, packages, layers, folders",
            "how is the repository organised and which modules depend on each other; diagram",
        ),
        "{repository, structure, metrics}",
    ),
    "find_path": Entry(
        (
            "how does one file, class or function in the code reach another",
            "connection or chain of calls and imports between two pieces of code; call path",
        ),
        "{path_exists, path: [{entity_type, entity_path, relationship_type}], metadata}",
    ),
    "get_graph_metrics": Entry(
        (
            "statistics of graph queries: how many were made, how fast, latency, cache hits",
            "performance figures of dependency queries",
        ),
        "{query counts and durations by type}",
    ),
    "index_repository": Entry(
        (
            "add, index, scan or import a git repository or folder of code so that it can be searched",
            "update or re-index a repository after new commits, pull or changes",
        ),
        "{success, repository: {name, file_count, chunk_count},"
        " files: {added, updated, removed, unchanged}, functions}",
    ),
    "remove_repository": Entry(
        (
            "remove, delete, drop or forget a repository or codebase from the index",
            "clean up code that is no longer needed",
        ),
        "{success, repository, removed_files, removed_chunks}",
    ),
    "get_index_status": Entry(
        (
            "progress of indexing: is the import of a repository finished, how far is it",
            "state of the index, chunks that still wait",
        ),
        "{repositories: [{name, status, progress}]}",
    ),
    "ping": Entry(
        ("is the server alive, reachable, up and running; health check; test the connection",),
        "{success, message, timestamp}",
    ),
    "get_server_stats": Entry(
        (
            "how many events are stored, pending or failed; state of the outbox and of projections",
            "server statistics of the concept store, backlog, consistency",
        ),
        "{event_count, outbox_pending, outbox_failed}",
    ),
    "create_concept": Entry(
        (
            "remember, note, save or add a new idea, term, definition or piece of knowledge",
            "store one concept with an explanation",
        ),
        "{success, concept_id, warning and similar where one much like it exists}",
    ),
    "create_concepts": Entry(
        (
            "add many concepts at once: bulk import, batch, a list of terms in one go",
            "store several ideas atomically, all or nothing",
        ),
        "{success, concept_ids}",
    ),
    "get_concept": Entry(
        (
            "show one concept by its id with its explanation",
            "history, earlier versions or past state of a concept; as it was at a date",
        ),
        "{concept: {" + _CONCEPT + ", explanation, version}, history}",
    ),
    "update_concept": Entry(
        (
            "change, edit, correct, rename or improve an existing concept",
            "adjust the explanation, the certainty, the area or the topic of a concept",
        ),
        "{success, concept_id, updated_fields, version}",
    ),
    "delete_concept": Entry(
        ("delete, remove, discard or throw away a concept that is wrong or obsolete",),
        "{success, concept_id}",
    ),
    "restore_concept": Entry(
        ("undo the deletion of a concept; bring back, recover or undelete a concept",),
        "{success, concept_id, version}",
    ),
    "search_concepts_semantic": Entry(
        (
            "find concepts similar in meaning to a question or idea",
            "which concepts have to do with, are about or resemble something",
        ),
        "{results: [{" + _CONCEPT + ", similarity}], total}",
    ),
    "search_concepts_exact": Entry(
        (
            "look up a concept by its exact name or part of its name",
            "filter concepts by area, topic or subtopic",
        ),
        "{results: [{" + _CONCEPT + "}], total}",
    ),
    "get_recent_concepts": Entry(
        (
            "what was learned, added or changed lately, today, this week, in the last days",
            "newest or latest concepts",
        ),
        "{results: [{" + _CONCEPT + ", last_modified}], total, days}",
    ),
    "create_relationship": Entry(
        (
            "link, connect or relate two concepts: one is a prerequisite of, part of or contains the other",
            "say that one idea builds on another",
        ),
        "{success, relationship_id}",
    ),
    "delete_relationship": Entry(
        ("unlink two concepts; remove a link, connection or relationship between them",),
        "{success, relationship_id}",
    ),
    "get_related_concepts": Entry(
        (
            "neighbours of a concept: what is linked, connected or related to it, within some hops",
            "explore the graph around a concept",
        ),
        "{related: [{concept_id, name, relationship_type, strength, distance}], total}",
    ),
    "get_prerequisites": Entry(
        (
            "what must I learn, study or know first, before a concept",
            "learning path, study order, curriculum, foundations of a subject",
        ),
        "{chain: [{concept_id, name, depth}], total}",
    ),
    "get_concept_chain": Entry(
        (
            "how does one concept lead to another; path or steps between two concepts or ideas",
            "shortest connection of two concepts in the graph",
        ),
        "{path: [{concept_id, name}], length}",
    ),
    "list_hierarchy": Entry(
        (
            "tree of areas, topics and subtopics with counts; table of contents of the concepts",
            "which subjects or categories are there",
        ),
        "{areas: [{name, concept_count, topics: [{name, concept_count, subtopics}]}], total_concepts}",
    ),
    "get_concepts_by_certainty": Entry(
        (
            "concepts that are uncertain, shaky, doubtful, or that I am unsure or very sure about",
            "sort or filter concepts by confidence or certainty score",
        ),
        "{results: [{" + _CONCEPT + "}], total}",
    ),
}
