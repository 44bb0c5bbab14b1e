"""The apps of the project: the packages beside `contentapi` whose module `api` declares what they add."""

from pathlib import Path


def find_content_apps(folder: Path) -> list[str]:
    """Return the names of the apps, in alphabetical order. Modules `api` of other packages declare nothing."""
    declared = [
        path.parent.name for path in folder.glob("*/api.py") if "\nAPI = App(" in path.read_text(encoding="utf-8")
    ]
    return sorted({*declared} - {"contentapi"})
