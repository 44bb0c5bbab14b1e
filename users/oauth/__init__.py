"""The OAuth 2.0 authorization server: oauthlib's grants, restricted as RFC 9700 requires, with JWT access tokens."""
