"""Execute operations: the only package that uses internals of graphql-core."""
