"""Traversal of large graphs, over integers: who is reached from where, and by which edges."""
