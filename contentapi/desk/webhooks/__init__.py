"""Webhooks in the desk: their pages, what was sent in the last hours, and each delivery with its attempts."""
