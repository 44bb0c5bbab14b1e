"""Backups of the database by `pg_dump` and `pg_restore`, with a manifest of what they contain."""
