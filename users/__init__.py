"""Users, their API keys and issued tokens, and the login."""
