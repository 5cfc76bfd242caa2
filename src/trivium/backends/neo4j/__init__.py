"""Our graphs on a Neo4j server: concepts, code, vendors; and walks over them there."""
