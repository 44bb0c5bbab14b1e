"""GraphQL over HTTP: the schema, the endpoint, documents and errors."""
