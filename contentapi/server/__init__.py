"""Serving: granian, gunicorn, and the fast path around Django's middleware."""
