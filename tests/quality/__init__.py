"""Checks of the tests and of the dependencies, run by `make` and CI. Their configuration is in pyproject.toml."""
