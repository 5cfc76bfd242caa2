"""The tables of the code graph. Scripts are append-only: a published one never changes."""

SCHEMA = (
    """
CREATE TABLE code_repositories (
  name TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  location TEXT NOT NULL,
  branch TEXT NOT NULL,
  head TEXT NOT NULL,
  is_cloned INTEGER NOT NULL,
  status TEXT NOT NULL,
  file_count INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL,
  function_count INTEGER NOT NULL,
  last_indexed TEXT NOT NULL,
  index_duration_ms INTEGER NOT NULL,
  error_message TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE code_graphs (
  repository TEXT PRIMARY KEY REFERENCES code_repositories ON DELETE CASCADE,
  revision INTEGER NOT NULL,
  blind_spots TEXT NOT NULL
);
CREATE TABLE code_files (
  repository TEXT NOT NULL REFERENCES code_repositories ON DELETE CASCADE,
  path TEXT NOT NULL,
  blob_hash TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  language TEXT NOT NULL,
  pieces TEXT NOT NULL,
  PRIMARY KEY (repository, path)
) WITHOUT ROWID;
CREATE TABLE code_symbols (
  symbol_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  repository TEXT NOT NULL,
  path TEXT NOT NULL,
  qualified_name TEXT NOT NULL,
  name TEXT NOT NULL,
  line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  signature TEXT NOT NULL,
  docstring TEXT NOT NULL,
  parent_id TEXT
) WITHOUT ROWID;
CREATE INDEX code_symbols_by_name ON code_symbols (name);
CREATE INDEX code_symbols_by_qualified_name ON code_symbols (qualified_name);
CREATE INDEX code_symbols_by_path ON code_symbols (path, qualified_name);
CREATE INDEX code_symbols_by_repository ON code_symbols (repository);
CREATE TABLE code_edges (
  source TEXT NOT NULL,
  target TEXT NOT NULL,
  relationship TEXT NOT NULL,
  line_number INTEGER NOT NULL,
  resolution TEXT NOT NULL,
  confidence REAL NOT NULL,
  repository TEXT NOT NULL,
  PRIMARY KEY (source, target, relationship)
) WITHOUT ROWID;
CREATE INDEX code_edges_by_target ON code_edges (target);
CREATE INDEX code_edges_by_repository ON code_edges (repository, relationship);
""",
    """
ALTER TABLE code_edges ADD COLUMN resolved_by TEXT NOT NULL DEFAULT '';
CREATE TABLE code_joins (
  repository TEXT PRIMARY KEY REFERENCES code_repositories ON DELETE CASCADE,
  digest TEXT NOT NULL,
  published TEXT NOT NULL,
  state TEXT NOT NULL
) WITHOUT ROWID;
""",
    """
CREATE TABLE code_patches (
  repository TEXT NOT NULL REFERENCES code_repositories ON DELETE CASCADE,
  path TEXT NOT NULL,
  revision INTEGER NOT NULL,
  blind_spots TEXT NOT NULL,
  PRIMARY KEY (repository, path)
) WITHOUT ROWID;
""",
)

FACTS_SCHEMA = (
    """
CREATE TABLE facts (
  fingerprint TEXT PRIMARY KEY,
  packed BLOB NOT NULL
);
""",
)
