"""The Content API. Apps import its packages, but not schema, urls and wsgi, which assemble the service."""
