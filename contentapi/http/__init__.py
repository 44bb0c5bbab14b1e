"""Requests and responses: bodies, negotiation, errors, conditional requests, request ids."""
