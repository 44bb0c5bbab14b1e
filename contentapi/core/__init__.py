"""Shared by every package: errors, actors, permissions, pages. No HTTP, no SQL."""
