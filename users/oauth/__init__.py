"""The OAuth 2.0 authorization server: django-oauth-toolkit, held to RFC 9700, with access tokens that are our JWTs."""
