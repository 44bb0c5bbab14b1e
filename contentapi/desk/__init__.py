"""The framework of the desk: base classes of its pages, actions, lists, the theme, error pages; and webhooks."""
