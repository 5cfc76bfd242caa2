"""Repositories that use one another: what each publishes, and the edges between them."""
