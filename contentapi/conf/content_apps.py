"""The apps of the project: the packages beside `contentapi` whose module `api` declares what they add."""

from pathlib import Path


def find_content_apps(folder: Path) -> list[str]:
    """Return the names of the apps, in alphabetical order."""
    return sorted(path.parent.name for path in folder.glob("*/api.py") if declares_app(path))


def declares_app(path: Path) -> bool:
    """Return whether a module is a declaration: packages of others can have a module `api` too."""
    return path.parent.name != "contentapi" and b"\nAPI = App(" in path.read_bytes()
