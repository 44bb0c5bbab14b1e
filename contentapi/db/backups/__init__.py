"""Backups of the database by `pg_dump` and `pg_restore`, with a checksum of each table."""
