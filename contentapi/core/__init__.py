"""Shared by every package: errors, the caller, permissions, pages. No HTTP, no SQL."""
