"""Indexing repositories: from a folder or a git address to chunks and a graph, and keeping them up to date."""
