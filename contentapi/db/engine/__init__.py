"""Django database engine for PostgreSQL with persistent connections, and connection slots for threads."""
