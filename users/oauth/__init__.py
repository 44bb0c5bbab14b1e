"""The OAuth 2.0 authorization server: django-oauth-toolkit, restricted as RFC 9700 requires, with JWT access tokens."""
