"""What `search_tools` knows of each function besides its own description: how people ask for it, and what it answers.

A tool that is missing here is found by its description alone; tests see to it that none is missing.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """`asked`: the task in other people's words, short and many; `returns`: the fields of an answer."""

    asked: tuple[str, ...]
    returns: str


_CHUNKS = "{results: [{chunk_id, source_file, source_category, chunk_index, total_chunks"
_EDGES = "[{type, path, repository, relationship, depth, metadata: {line_number, confidence}}]"
_CONCEPT = "concept_id, name, area, topic, subtopic, certainty_score"


# How people ask, a function a paragraph, phrases divided by bars. Names and topics are "something", as in a question
# that has lost its particulars (sandbox_words.py).
_ASKED = """
semantic_search: documents that deal with something | our guideline for something | what is the rule, process or
  policy for something | find something in the docs | anything about something | documentation regarding something |
  how do we do something here | which document explains something | material on something | material written about a
  subject in the archive | who is responsible for something according to the handbook | search for a subject | find
  documents about a topic | look something up in the manuals | what do our files say about this | is there anything on
  this in the documentation | which pages mention a term | passages, sentences or text about something | query the
  knowledge base, the corpus, the wiki, the handbook | answer a question from the documents | find information on a
  policy | search contracts, reports and notes | full-text search over everything | where is this described | research
  a subject in all sources
get_chunk: give me the entire content of chunk something | load the paragraph following this one | read result number
  something | full text of a passage | what does passage something say | next and previous chunk | quote the original
  passage | read the full text of one search result | show chunk 12 | open a passage by its id or number | get the
  whole excerpt | display the text with this id | expand a hit with its neighbours | the paragraphs before and after a
  passage | more context around a result | fetch the complete content of a result
find_vendor_info: what is known about the vendor something | which cities does a company operate in | information on a
  company | entities related to a vendor | who leads this company | what does this vendor offer | look up a supplier |
  tell me about a company | what do we know about a supplier | profile of a vendor, manufacturer, firm or organisation
  | products a company makes | people who work for a firm | where is a business located | partners and competitors of
  a corporation | who acquired whom | people, places and products linked to a company | list what a vendor sells |
  facts we hold on a firm
add_vendor_facts: insert a relationship between two companies | add a vendor | store a fact about a supplier | a
  company partners with another company, save that | add entities to the vendor graph | remember that this firm
  produces something | document that a company bought another company | teach the graph that a person holds a post at
  a company | record a fact about a company | store that a person works for a firm | register a new product of a
  manufacturer | note that one company acquired another | save a partnership between two companies | add an employee,
  office or subsidiary of a vendor | write a relationship between organisations with its source | enter what I read
  about a supplier | correct or retract a fact about a vendor
search_code: code that writes to something | look for a handler in the repo | find the function that does something |
  show code handling something | where do we do something in the code | search code for something | find a class or
  function by description | which file contains the logic for something | find code that does something | grep the
  codebase | where is this implemented in the source | function that implements an algorithm | locate the class that
  handles something | code snippets for a task | search the repository for logic | find a method by what it does |
  source files that parse, open, retry or validate | example of how we use an API in code | which function computes
  this
list_indexed_repositories: available repositories | show all repositories | what repos are indexed | which codebases
  are loaded | list projects | which repositories are there | list all repos | show indexed projects | what codebases
  do you know | what code do you have | names of all projects | when was each repository last indexed | how many files
  does each repo have
get_dependencies: modules that a file pulls in | callees of a function | what a file needs | what does something
  import | what does something call | what does something depend on | dependencies of a file, class or function |
  which modules are used by something | upstream code that something builds upon | what gets invoked inside a function
  | what does this file import | list the imports of a module | libraries used by a file | what functions does a
  function call | what does a class depend on | what does this code rely on | base classes and interfaces of a class |
  packages needed by this module | outgoing dependencies | what is called by this function | what does it need to work
get_dependents: callers of a function | what would be impacted by removing a class | who imports something | what
  depends on something | dependents of a file, class or function | which code uses something | what will break |
  downstream users of a function | effect of changing something | modules importing this one | where is a class
  referenced | who calls this function | find all callers | usages of a method | who uses this class | is anyone still
  using it | which files import this module | what breaks if I change this | blast radius of a modification | impact
  of renaming or removing a function | reverse dependencies | references to a symbol | what depends on this file | is
  it safe to delete this function
get_architecture: main building blocks of the system | structure of the repository | how is the code laid out |
  explain the codebase | dependencies between modules of the whole repository | components and their dependencies |
  package structure | overview of the project structure | how is the repository organised | module map | layers and
  packages of a project | architecture diagram of the codebase | folders of the project and how they depend on each
  other | big picture of the code | which modules are there | high-level structure
find_path: how is one file linked to another file | path from something to something in the code graph | is there a
  connection between these two functions | how does something end up calling something | chain of calls from one
  function to another | how are two classes connected in the code | how do we get from one layer of the code to
  another | how does one function reach another | trace the call chain from a to b | path between two files in the
  code | does one module depend on another, and via what | chain of imports between two classes | connection between
  two pieces of code | through which calls does this get to that | shortest dependency path
get_graph_metrics: speed of the graph endpoints | graph query statistics | query counts and durations | metrics of the
  graph | monitoring of graph queries | how often were graph queries run | average response time of the code graph |
  latency of dependency queries | statistics on graph usage | performance of the graph | how many dependency queries
  were answered | how fast are graph queries, cache hits
index_repository: start indexing a folder | index something | add code from a folder or URL | load a repository |
  re-scan a project | pull in a new codebase | update the index of a repository | add a repository | index a git
  project | import a repo from GitHub | make this folder of code searchable | clone and scan a codebase | refresh the
  code index | update the repository after new commits | re-index a repo | bring the index of the code up to date |
  take in a new project
remove_repository: take a repository out of the index | delete a project from the index | remove indexed code | drop a
  repository | clean up an old repo | delete a repo from the index | remove a repository | forget a codebase | stop
  tracking a project | drop an old project | get rid of indexed code | unregister a repository
get_index_status: current indexing state | indexing status | how is the indexing going | state of a running import |
  wait for indexing to complete | what is left to index | is indexing finished | how far along is the scan | progress
  of the import of a repository | status of the index | has the repository been indexed yet | how many chunks still
  wait | is the index ready | when will indexing be done
ping: does the server respond | is it working | test the server | ping the server | can you hear me | are you there |
  is the server up | check connectivity | health check | test the connection | is the service alive and responding |
  heartbeat
get_server_stats: number of events not yet processed | event count | server statistics | is the store behind | did
  anything fail in the outbox | health of the projections | how many events are stored | backlog of unprocessed events
  | pending and failed events in the outbox | state of the event store | are the projections consistent | lag of the
  views | statistics of the concept server | events that could not be applied
create_concept: define a new concept called something | keep this insight for later | save this as a concept | add
  something to my knowledge | create a concept | make a note of something | learn something new: store it | jot down
  the meaning of a word | a new flashcard | add a new concept | save a new term | write down what I just learned |
  remember this idea | note a definition | store an explanation of something | record a piece of knowledge | memorise
  this | create an entry for a notion | add a definition of a word
create_concepts: save these ten concepts together | create multiple concepts | import a glossary | store all of these
  concepts at once | add a set of concepts | add many concepts at once | upload a batch of definitions | insert
  multiple ideas | bulk import of terms | store a list of concepts in one go | save several notions atomically | mass
  creation of concepts
get_concept: show me the concept with id something | open a concept | read a concept in full | get concept something |
  all events of a concept | state of a concept at an earlier time | revision history of a notion | print a concept |
  fetch a concept by its id | show one concept | details of this concept | the history of a concept | what did this
  concept look like last month | earlier versions of a concept | the full explanation of a concept | a concept as of a
  date | who changed this concept and when
update_concept: set the topic of a concept | change the name, area or examples of a concept | update a concept | fix
  an explanation | edit an existing idea | adjust the certainty score | add an example to a concept | reclassify a
  concept under a different area | change a concept | edit the explanation | rename a concept | move a concept to
  another topic or area | correct a definition | raise or lower the certainty of a concept | improve an existing entry
  | modify examples of a concept | I am more sure of this concept now
delete_concept: delete the concept something | remove a concept from my knowledge | get rid of an idea | this concept
  is wrong, remove it | delete a concept | erase a concept | remove an idea | discard a term that is wrong | throw
  away a concept | drop an obsolete notion
restore_concept: bring the deleted concept back | undo a delete | I deleted a concept by mistake | reinstate a concept
  | undo the deletion of a concept | restore a deleted concept | get a removed concept back | undelete | recover a
  concept that was deleted
search_concepts_semantic: concepts dealing with something | concepts that have to do with something | concepts about
  something | ideas related in meaning to something | find similar concepts | which of my concepts concern something |
  search concepts for something | what do I know about a subject | find concepts about something | ideas like this one
  | concepts similar in meaning | which concepts have to do with a subject | notions related in meaning to a phrase |
  search my concepts by meaning | do I have a concept about this | ideas that resemble something
search_concepts_exact: concepts named something | concept called something | find a concept by name | concepts in area
  something | concepts of topic something | does a concept with this name exist | concepts filed under a field | the
  concept with a title | concepts whose name contains a word | look up a concept by its exact name | all concepts in
  an area | concepts under a topic or subtopic | list the concepts of a subject area | find the concept called so |
  filter concepts by area and topic
get_recent_concepts: concepts from the last 30 days | recently changed concepts | what did I add today | what was
  updated last | recent ideas | fresh concepts | what changed lately | latest additions | newest concepts | what did I
  learn this week | concepts added or modified yesterday | recent changes of my knowledge | last modified concepts |
  what is new since Monday
create_relationship: make one concept a prerequisite of another | connect concept something with concept something |
  add a relationship between two concepts | something is part of something, link them | relate one idea to another |
  record that one idea is included in another | tie one idea to another | connect two concepts | link two ideas | mark
  one concept as part of another | say that a concept is a prerequisite of another | relate two notions | add an edge
  between concepts | one idea builds on another, record that | state that one concept contains another
delete_relationship: remove the prerequisite link | delete the relationship between concepts | remove an edge | undo a
  link between two ideas | cut the tie between two concepts | remove the link between two concepts | unlink two ideas
  | drop a connection between notions | delete a relationship | disconnect two concepts | that link is wrong, take it
  away
get_related_concepts: concepts related to something in the graph | what is linked to a concept | neighbourhood of an
  idea | which concepts depend on this one | connected concepts | direct relations of a concept | concepts one step
  away | what hangs together with a concept | what is connected to this concept | neighbours of a concept | what
  relates to this idea | concepts linked to this one | explore the graph around a concept | within two hops of a
  concept | what builds on this idea | which concepts belong to it
get_prerequisites: what to study before something | what should I know before learning something | prerequisites for
  something | what comes first | what is needed to understand something | learning order | required background for a
  concept | what must I learn first | learning path towards a subject | what do I need to know beforehand | study
  order | prerequisites of a concept | foundations to understand before this | curriculum for a topic | in which order
  should I study | what comes before this in learning
get_concept_chain: shortest path between concept something and concept something | how do I get from one concept to
  another | connection between two ideas | chain linking two concepts | route from idea to idea | bridge between two
  concepts | how are two concepts connected | path from one idea to another | how does one concept lead to another |
  chain of concepts between two ideas | shortest connection of two notions | steps from one concept to the other | is
  there a link between two concepts, and through which
list_hierarchy: areas and their topics | list all topics | structure of my concepts | what areas and topics are there
  | browse the topics | counts per topic | taxonomy of everything stored | how many concepts per area | what subjects
  do we cover | overview of topics | tree of areas and topics | table of contents of my knowledge | which areas exist
  | number of concepts in each topic | categories of concepts | how are the concepts organised
get_concepts_by_certainty: which concepts have low certainty | concepts with high confidence | concepts between two
  certainty values | uncertain concepts | what should I review because I am not sure | how sure am I of my concepts |
  concepts I am unsure about | shaky knowledge | concepts with certainty below 50 | most certain concepts | least
  confident ideas | what do I know for sure | doubtful concepts that need review | sort concepts by confidence |
  weakest entries
"""

_RETURNS = {
    "semantic_search": _CHUNKS
    + ", hybrid_score, rank, chunk_text (mode full)}], pagination: {cursor, has_more, total_available}}",
    "get_chunk": _CHUNKS + ", chunk_text, chunk_token_count}]}",
    "find_vendor_info": (
        "{results: {vendor_name, statistics: {entity_count, relationship_count}, top_entities or"
        " entities: [{entity_id, name, entity_type, confidence}],"
        " relationships: [{source_id, target_id, relationship_type}]}}"
    ),
    "add_vendor_facts": "{results: {entity_ids, relationship_ids, added, duplicates}}",
    "search_code": (
        "{results: [{content, similarity_score, metadata: {file_path, repository, start_line, end_line, entity_path}}]}"
    ),
    "list_indexed_repositories": "{repositories: [{name, file_count, chunk_count, last_indexed, status}], summary}",
    "get_dependencies": "{entity, dependencies: " + _EDGES + ", metadata: {total_count}}",
    "get_dependents": "{entity, dependents: " + _EDGES + ", impact_analysis: {impact_score, direct_impact_count}}",
    "get_architecture": "{root: {name, type, children}, module_dependencies: [{from, to, relationship_count}]}",
    "find_path": "{path_exists, path: [{type, identifier, repository, relationship_to_next}], metadata: {hops}}",
    "get_graph_metrics": "{metrics: {totalQueries, averageDurationMs, byQueryType}}",
    "index_repository": (
        "{success, repository: {name, file_count, chunk_count}, files: {added, updated, removed, unchanged}, functions}"
    ),
    "remove_repository": "{success, repository, removed_files, removed_chunks}",
    "get_index_status": "{repositories: [{name, status, file_count, chunk_count}], waiting_for_vectors}",
    "ping": "{success, message, timestamp}",
    "get_server_stats": "{event_count, outbox_pending, outbox_failed}",
    "create_concept": "{success, concept_id}",
    "create_concepts": "{success, concept_ids}",
    "get_concept": "{concept: {" + _CONCEPT + ", explanation, version}, history}",
    "update_concept": "{success, concept_id, updated_fields, version}",
    "delete_concept": "{success, concept_id}",
    "restore_concept": "{success, concept_id, version}",
    "search_concepts_semantic": "{results: [{" + _CONCEPT + ", similarity}], total}",
    "search_concepts_exact": "{results: [{" + _CONCEPT + "}], total}",
    "get_recent_concepts": "{results: [{" + _CONCEPT + ", last_modified}], total, days}",
    "create_relationship": "{success, relationship_id}",
    "delete_relationship": "{success, relationship_id}",
    "get_related_concepts": "{related: [{concept_id, name, relationship_type, strength, distance}], total}",
    "get_prerequisites": "{chain: [{concept_id, name, depth}], total}",
    "get_concept_chain": "{path: [{concept_id, name}], length}",
    "list_hierarchy": "{areas: [{name, concept_count, topics: [{name, concept_count, subtopics}]}], total_concepts}",
    "get_concepts_by_certainty": "{results: [{" + _CONCEPT + "}], total}",
}


def _catalog() -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for paragraph in _ASKED.replace("\n  ", " ").strip().splitlines():
        name, _, phrases = paragraph.partition(": ")
        found[name] = Entry(tuple(phrase.strip() for phrase in phrases.split("|")), _RETURNS[name])
    return found


CATALOG = _catalog()
