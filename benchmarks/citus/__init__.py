"""What a database over several servers costs and survives: `make bench-citus`."""
