"""The tables of concepts: the log, the rows derived from it, and the books of the projections.

Scripts are append-only: a published one never changes. An absent area, topic or subtopic is stored as '' so that one
place in the taxonomy is one key; nothing that is stored can be blank otherwise.
"""

SCHEMA = (
    """
CREATE TABLE concept_events (
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  version INTEGER NOT NULL,
  kind TEXT NOT NULL,
  at TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (stream, version)
);
CREATE TRIGGER concept_events_are_never_changed BEFORE UPDATE ON concept_events
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;
CREATE TRIGGER concept_events_are_never_removed BEFORE DELETE ON concept_events
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;

CREATE TABLE concepts (
  key INTEGER PRIMARY KEY,
  concept_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  explanation TEXT NOT NULL,
  area TEXT NOT NULL,
  topic TEXT NOT NULL,
  subtopic TEXT NOT NULL,
  certainty_score REAL,
  examples TEXT,
  prerequisites TEXT,
  created_at TEXT NOT NULL,
  last_modified TEXT NOT NULL,
  version INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  deleted_at TEXT
);
CREATE INDEX concepts_by_place ON concepts (area, topic, subtopic, certainty_score) WHERE deleted_at IS NULL;
CREATE INDEX concepts_by_certainty ON concepts (certainty_score)
  WHERE deleted_at IS NULL AND certainty_score IS NOT NULL;
CREATE INDEX concepts_by_change ON concepts (changed);
CREATE INDEX concepts_that_are_deleted ON concepts (key) WHERE deleted_at IS NOT NULL;

CREATE TABLE concept_counts (
  area TEXT NOT NULL,
  topic TEXT NOT NULL,
  subtopic TEXT NOT NULL,
  concept_count INTEGER NOT NULL,
  PRIMARY KEY (area, topic, subtopic)
) WITHOUT ROWID;
CREATE TRIGGER concepts_count_in AFTER INSERT ON concepts WHEN NEW.deleted_at IS NULL
BEGIN
  INSERT INTO concept_counts VALUES (NEW.area, NEW.topic, NEW.subtopic, 1)
    ON CONFLICT DO UPDATE SET concept_count = concept_count + 1;
END;
CREATE TRIGGER concepts_count_move AFTER UPDATE ON concepts
WHEN (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL)
  OR (NEW.deleted_at IS NULL AND (OLD.area, OLD.topic, OLD.subtopic) <> (NEW.area, NEW.topic, NEW.subtopic))
BEGIN
  UPDATE concept_counts SET concept_count = concept_count - 1
    WHERE OLD.deleted_at IS NULL AND area = OLD.area AND topic = OLD.topic AND subtopic = OLD.subtopic;
  DELETE FROM concept_counts
    WHERE area = OLD.area AND topic = OLD.topic AND subtopic = OLD.subtopic AND concept_count = 0;
  INSERT INTO concept_counts SELECT NEW.area, NEW.topic, NEW.subtopic, 1 WHERE NEW.deleted_at IS NULL
    ON CONFLICT DO UPDATE SET concept_count = concept_count + 1;
END;
CREATE TRIGGER concepts_count_out AFTER DELETE ON concepts WHEN OLD.deleted_at IS NULL
BEGIN
  UPDATE concept_counts SET concept_count = concept_count - 1
    WHERE area = OLD.area AND topic = OLD.topic AND subtopic = OLD.subtopic;
  DELETE FROM concept_counts
    WHERE area = OLD.area AND topic = OLD.topic AND subtopic = OLD.subtopic AND concept_count = 0;
END;

CREATE TABLE concept_relationships (
  key INTEGER PRIMARY KEY,
  relationship_id TEXT NOT NULL UNIQUE,
  source INTEGER NOT NULL,
  target INTEGER NOT NULL,
  type TEXT NOT NULL,
  strength REAL NOT NULL,
  description TEXT,
  created_at TEXT NOT NULL,
  UNIQUE (source, target, type)
);
CREATE INDEX concept_relationships_by_target ON concept_relationships (target, source, type);

CREATE TABLE concept_projections (
  projection TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  retry_at REAL NOT NULL,
  error TEXT
) WITHOUT ROWID;
CREATE TABLE concept_parked (
  projection TEXT NOT NULL,
  position INTEGER NOT NULL,
  stream TEXT NOT NULL,
  error TEXT NOT NULL,
  parked_at TEXT NOT NULL,
  PRIMARY KEY (projection, position)
) WITHOUT ROWID;
CREATE TABLE concept_requests (
  idempotency_key TEXT PRIMARY KEY,
  request TEXT NOT NULL,
  ids TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE consistency_snapshots (
  snapshot_id INTEGER PRIMARY KEY,
  at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  consistent INTEGER NOT NULL,
  found TEXT NOT NULL
);
""",
)
