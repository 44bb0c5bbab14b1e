"""Shared by every package: errors with their HTTP status, actors, permissions, pages, entity tags and caches."""
