"""PostgreSQL: the database under the SQL stores, locks between machines, limits, vectors and keywords."""
