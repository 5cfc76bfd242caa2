"""The tables of documents, chunks and vectors. Scripts are append-only: a published one never changes."""

SCHEMA = (
    """
CREATE TABLE documents (
  document_id INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL,
  root TEXT NOT NULL,
  source_file TEXT NOT NULL,
  source_category TEXT,
  title TEXT NOT NULL,
  date TEXT,
  content_hash TEXT NOT NULL,
  metadata TEXT NOT NULL,
  total_chunks INTEGER NOT NULL,
  added_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE UNIQUE INDEX documents_by_place ON documents (source, root, source_file);
CREATE INDEX documents_by_file ON documents (source_file);
CREATE TABLE chunks (
  chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,
  document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  chunk_index INTEGER NOT NULL,
  start INTEGER NOT NULL,
  end INTEGER NOT NULL,
  token_count INTEGER NOT NULL,
  content_hash BLOB NOT NULL,
  context_header TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE INDEX chunks_by_document ON chunks (document_id, chunk_index);
CREATE TABLE changes (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  chunk_id INTEGER NOT NULL
);
CREATE TABLE models (
  model_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  active INTEGER NOT NULL DEFAULT 0,
  tracked INTEGER NOT NULL DEFAULT 0,
  UNIQUE (name, dimension)
);
CREATE TABLE embeddings (
  embedding_id INTEGER PRIMARY KEY,
  model_id INTEGER NOT NULL,
  text_hash BLOB NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (model_id, text_hash)
);
CREATE TABLE passages (
  chunk_id INTEGER NOT NULL REFERENCES chunks ON DELETE CASCADE,
  model_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  embedding_id INTEGER NOT NULL,
  PRIMARY KEY (chunk_id, model_id, number)
) WITHOUT ROWID;
CREATE TABLE embedding_queue (
  model_id INTEGER NOT NULL,
  chunk_id INTEGER NOT NULL REFERENCES chunks ON DELETE CASCADE,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (model_id, chunk_id)
) WITHOUT ROWID;
CREATE INDEX embedding_queue_by_chunk ON embedding_queue (chunk_id);
""",
)
