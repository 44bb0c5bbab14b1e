"""Authentication: callers, JWTs and their keys, sessions."""
