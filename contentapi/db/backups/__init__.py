"""Backups of the database by `pg_dump` and `pg_restore`, with the rows of each table."""
