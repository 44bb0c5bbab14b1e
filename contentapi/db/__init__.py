"""PostgreSQL: the Django database engine, connection slots, and the embedded server."""
