"""Watches the PostgreSQL servers: whether they respond, their lag, and which replicas serve reads."""
