"""The embedded PostgreSQL: a Django database engine that starts its own server for each checkout."""
