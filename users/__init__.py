"""Users and their credentials."""
