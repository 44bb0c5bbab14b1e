"""Users and API keys in the desk, and its login."""
