"""The admin site and the base classes of its pages; users, API keys and webhooks."""
