"""The embedded PostgreSQL: a Django database engine that starts a server of this checkout's own."""
