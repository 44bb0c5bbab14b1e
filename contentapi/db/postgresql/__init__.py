"""Django's PostgreSQL engine, as the servers of this project use it."""
