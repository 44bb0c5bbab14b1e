"""The query of a search, and the index that it reads."""
