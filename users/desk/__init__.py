"""The admin site and the base classes of its pages; users and API keys."""
