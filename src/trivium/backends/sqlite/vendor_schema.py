"""The tables of the vendor graph. Scripts are append-only: a published one never changes.

Triggers keep every count and date right in the transaction that changes a mention or a proof, cascades from deleted
chunks included, so no reader ever sees a fact without support and no count is computed when it is asked for.
"""

SCHEMA = (
    """
CREATE TABLE entities (
  entity_id INTEGER PRIMARY KEY AUTOINCREMENT,
  entity_type TEXT NOT NULL,
  name TEXT NOT NULL,
  confidence REAL NOT NULL DEFAULT 0,
  mention_count INTEGER NOT NULL DEFAULT 0,
  first_date TEXT,
  last_date TEXT
);
CREATE INDEX entities_by_count ON entities (entity_type, mention_count DESC, entity_id);
CREATE TABLE entity_names (
  entity_type TEXT NOT NULL,
  base TEXT NOT NULL,
  form TEXT NOT NULL,
  entity_id INTEGER NOT NULL REFERENCES entities ON DELETE CASCADE,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  PRIMARY KEY (entity_type, base, form, entity_id)
) WITHOUT ROWID;
CREATE INDEX entity_names_by_entity ON entity_names (entity_id);
CREATE TABLE name_rules (
  entity_type TEXT NOT NULL,
  base TEXT NOT NULL,
  form TEXT NOT NULL,
  target_base TEXT,
  target_form TEXT,
  target_name TEXT,
  PRIMARY KEY (entity_type, base, form)
) WITHOUT ROWID;
CREATE TABLE mentions (
  chunk_id INTEGER NOT NULL REFERENCES chunks ON DELETE CASCADE,
  entity_id INTEGER NOT NULL REFERENCES entities ON DELETE CASCADE,
  origin TEXT NOT NULL,
  base TEXT NOT NULL,
  form TEXT NOT NULL,
  surface TEXT NOT NULL,
  start INTEGER NOT NULL,
  count INTEGER NOT NULL,
  confidence REAL NOT NULL,
  date TEXT,
  PRIMARY KEY (chunk_id, entity_id, origin, base, form)
) WITHOUT ROWID;
CREATE INDEX mentions_by_confidence ON mentions (entity_id, confidence);
CREATE INDEX mentions_by_date ON mentions (entity_id, date);
CREATE TABLE relationships (
  relationship_id INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id INTEGER NOT NULL REFERENCES entities ON DELETE CASCADE,
  target_id INTEGER NOT NULL REFERENCES entities ON DELETE CASCADE,
  relationship_type TEXT NOT NULL,
  confidence REAL NOT NULL DEFAULT 0,
  mention_count INTEGER NOT NULL DEFAULT 0,
  first_date TEXT,
  last_date TEXT,
  UNIQUE (source_id, target_id, relationship_type)
);
CREATE INDEX relationships_from ON relationships (source_id, confidence DESC, relationship_id);
CREATE INDEX relationships_to ON relationships (target_id, confidence DESC, relationship_id);
CREATE TABLE relationship_proofs (
  chunk_id INTEGER NOT NULL REFERENCES chunks ON DELETE CASCADE,
  relationship_id INTEGER NOT NULL REFERENCES relationships ON DELETE CASCADE,
  origin TEXT NOT NULL,
  confidence REAL NOT NULL,
  date TEXT,
  metadata TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (chunk_id, relationship_id, origin)
) WITHOUT ROWID;
CREATE INDEX relationship_proofs_by_confidence ON relationship_proofs (relationship_id, confidence);
CREATE INDEX relationship_proofs_by_date ON relationship_proofs (relationship_id, date);
CREATE TABLE entity_links (
  entity_id INTEGER NOT NULL REFERENCES entities ON DELETE CASCADE,
  other_id INTEGER NOT NULL,
  other_type TEXT NOT NULL,
  confidence REAL NOT NULL,
  links INTEGER NOT NULL,
  PRIMARY KEY (entity_id, other_id)
) WITHOUT ROWID;
CREATE INDEX entity_links_by_confidence ON entity_links (entity_id, confidence DESC, other_id);
CREATE INDEX entity_links_by_other ON entity_links (other_id);
CREATE TABLE entity_counts (
  entity_id INTEGER NOT NULL REFERENCES entities ON DELETE CASCADE,
  counted TEXT NOT NULL,
  name TEXT NOT NULL,
  total INTEGER NOT NULL,
  PRIMARY KEY (entity_id, counted, name)
) WITHOUT ROWID;
CREATE TABLE extraction_queue (
  chunk_id INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE
);
CREATE TABLE extractions (
  extractor TEXT NOT NULL,
  text_hash BLOB NOT NULL,
  found TEXT NOT NULL,
  PRIMARY KEY (extractor, text_hash)
) WITHOUT ROWID;
CREATE TABLE extracted (
  chunk_id INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
  extractor TEXT NOT NULL
);
INSERT INTO extraction_queue SELECT chunk_id FROM chunks JOIN documents USING (document_id) WHERE source = 'documents';
CREATE TRIGGER chunks_wait_for_extraction AFTER INSERT ON chunks
  WHEN (SELECT source FROM documents WHERE document_id = NEW.document_id) = 'documents'
  BEGIN INSERT OR IGNORE INTO extraction_queue VALUES (NEW.chunk_id); END;
CREATE TRIGGER documents_change_date AFTER UPDATE OF date ON documents WHEN OLD.date IS NOT NEW.date BEGIN
  UPDATE mentions SET date = COALESCE(NEW.date, NEW.added_at)
    WHERE chunk_id IN (SELECT chunk_id FROM chunks WHERE document_id = NEW.document_id);
  UPDATE relationship_proofs SET date = COALESCE(NEW.date, NEW.added_at)
    WHERE chunk_id IN (SELECT chunk_id FROM chunks WHERE document_id = NEW.document_id);
END;
CREATE TRIGGER documents_change_metadata AFTER UPDATE OF metadata ON documents
  WHEN OLD.metadata IS NOT NEW.metadata AND NEW.source = 'documents' BEGIN
  DELETE FROM mentions WHERE origin = 'front_matter'
    AND chunk_id IN (SELECT chunk_id FROM chunks WHERE document_id = NEW.document_id);
  DELETE FROM relationship_proofs WHERE origin = 'front_matter'
    AND chunk_id IN (SELECT chunk_id FROM chunks WHERE document_id = NEW.document_id);
  INSERT OR IGNORE INTO extraction_queue SELECT chunk_id FROM chunks WHERE document_id = NEW.document_id;
END;
CREATE TRIGGER mentions_added AFTER INSERT ON mentions BEGIN
  UPDATE entities SET mention_count = mention_count + NEW.count, confidence = MAX(confidence, NEW.confidence),
    first_date = MIN(COALESCE(first_date, NEW.date), NEW.date), last_date = MAX(COALESCE(last_date, NEW.date), NEW.date)
    WHERE entity_id = NEW.entity_id;
END;
CREATE TRIGGER mentions_removed AFTER DELETE ON mentions BEGIN
  UPDATE entities SET mention_count = mention_count - OLD.count,
    confidence = COALESCE((SELECT MAX(confidence) FROM mentions WHERE entity_id = OLD.entity_id), 0),
    first_date = (SELECT MIN(date) FROM mentions WHERE entity_id = OLD.entity_id),
    last_date = (SELECT MAX(date) FROM mentions WHERE entity_id = OLD.entity_id)
    WHERE entity_id = OLD.entity_id;
  DELETE FROM entities WHERE entity_id = OLD.entity_id
    AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = OLD.entity_id);
END;
CREATE TRIGGER mentions_redated AFTER UPDATE OF date ON mentions BEGIN
  UPDATE entities SET first_date = (SELECT MIN(date) FROM mentions WHERE entity_id = NEW.entity_id),
    last_date = (SELECT MAX(date) FROM mentions WHERE entity_id = NEW.entity_id) WHERE entity_id = NEW.entity_id;
END;
CREATE TRIGGER proofs_added AFTER INSERT ON relationship_proofs BEGIN
  UPDATE relationships SET mention_count = mention_count + 1, confidence = MAX(confidence, NEW.confidence),
    first_date = MIN(COALESCE(first_date, NEW.date), NEW.date), last_date = MAX(COALESCE(last_date, NEW.date), NEW.date)
    WHERE relationship_id = NEW.relationship_id;
END;
CREATE TRIGGER proofs_removed AFTER DELETE ON relationship_proofs BEGIN
  UPDATE relationships SET mention_count = mention_count - 1,
    confidence = COALESCE(
      (SELECT MAX(confidence) FROM relationship_proofs WHERE relationship_id = OLD.relationship_id), 0),
    first_date = (SELECT MIN(date) FROM relationship_proofs WHERE relationship_id = OLD.relationship_id),
    last_date = (SELECT MAX(date) FROM relationship_proofs WHERE relationship_id = OLD.relationship_id)
    WHERE relationship_id = OLD.relationship_id;
  DELETE FROM relationships WHERE relationship_id = OLD.relationship_id
    AND NOT EXISTS (SELECT 1 FROM relationship_proofs WHERE relationship_id = OLD.relationship_id);
END;
CREATE TRIGGER proofs_redated AFTER UPDATE OF date ON relationship_proofs BEGIN
  UPDATE relationships SET
    first_date = (SELECT MIN(date) FROM relationship_proofs WHERE relationship_id = NEW.relationship_id),
    last_date = (SELECT MAX(date) FROM relationship_proofs WHERE relationship_id = NEW.relationship_id)
    WHERE relationship_id = NEW.relationship_id;
END;
CREATE TRIGGER relationships_added AFTER INSERT ON relationships BEGIN
  INSERT INTO entity_counts VALUES (NEW.source_id, 'relationship', NEW.relationship_type, 1)
    ON CONFLICT DO UPDATE SET total = total + 1;
  INSERT INTO entity_counts VALUES (NEW.target_id, 'relationship', NEW.relationship_type, 1)
    ON CONFLICT DO UPDATE SET total = total + 1;
  INSERT INTO entity_links SELECT NEW.source_id, entity_id, entity_type, confidence, 1
    FROM entities WHERE entity_id = NEW.target_id ON CONFLICT DO UPDATE SET links = links + 1;
  INSERT INTO entity_links SELECT NEW.target_id, entity_id, entity_type, confidence, 1
    FROM entities WHERE entity_id = NEW.source_id ON CONFLICT DO UPDATE SET links = links + 1;
END;
CREATE TRIGGER relationships_removed AFTER DELETE ON relationships BEGIN
  UPDATE entity_counts SET total = total - 1 WHERE entity_id IN (OLD.source_id, OLD.target_id)
    AND counted = 'relationship' AND name = OLD.relationship_type;
  DELETE FROM entity_counts WHERE entity_id IN (OLD.source_id, OLD.target_id)
    AND counted = 'relationship' AND name = OLD.relationship_type AND total < 1;
  UPDATE entity_links SET links = links - 1 WHERE entity_id = OLD.source_id AND other_id = OLD.target_id;
  UPDATE entity_links SET links = links - 1 WHERE entity_id = OLD.target_id AND other_id = OLD.source_id;
  DELETE FROM entity_links WHERE entity_id = OLD.source_id AND other_id = OLD.target_id AND links < 1;
  DELETE FROM entity_links WHERE entity_id = OLD.target_id AND other_id = OLD.source_id AND links < 1;
END;
CREATE TRIGGER links_added AFTER INSERT ON entity_links BEGIN
  INSERT INTO entity_counts VALUES (NEW.entity_id, 'entity', NEW.other_type, 1)
    ON CONFLICT DO UPDATE SET total = total + 1;
END;
CREATE TRIGGER links_removed AFTER DELETE ON entity_links BEGIN
  UPDATE entity_counts SET total = total - 1
    WHERE entity_id = OLD.entity_id AND counted = 'entity' AND name = OLD.other_type;
  DELETE FROM entity_counts
    WHERE entity_id = OLD.entity_id AND counted = 'entity' AND name = OLD.other_type AND total < 1;
END;
CREATE TRIGGER entities_change_confidence AFTER UPDATE OF confidence ON entities
  WHEN OLD.confidence IS NOT NEW.confidence BEGIN
  UPDATE entity_links SET confidence = NEW.confidence WHERE other_id = NEW.entity_id;
END;
CREATE TRIGGER names_removed AFTER DELETE ON entities BEGIN
  DELETE FROM entity_names WHERE entity_id = OLD.entity_id;
END;
""",
)
