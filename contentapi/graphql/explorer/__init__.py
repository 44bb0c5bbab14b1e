"""The explorer: GraphiQL at /graphql, with examples."""
