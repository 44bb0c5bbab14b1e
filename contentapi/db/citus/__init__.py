"""Citus: distribute the database over PostgreSQL servers, and the statements that differ on a distributed one."""
