"""Whether each PostgreSQL server is there, how far it is, and who may be read."""
