"""Text to entities and relationships: rules and gazetteers that are always there, resolution, evaluation."""
