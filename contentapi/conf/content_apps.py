"""The apps of the project: the packages beside `contentapi` whose module `api` declares what they add."""

from pathlib import Path


def find_content_apps(folder: Path) -> list[str]:
    """Return the names of the apps, in alphabetical order. Packages of others can have a module `api` too."""
    return sorted(path.parent.name for path in folder.glob("*/api.py") if b"\nAPI = App(" in path.read_bytes())
