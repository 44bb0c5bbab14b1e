"""PostgreSQL: the database engine, connection slots, and the embedded server."""
