"""The content of a post in tests. What is made from it includes each field, also one that is added later."""

from typing import Any

from blog.models import CONTENT_FIELDS, COVER, OPTIONAL, Kind

TEXT_FIELDS = [field for field in CONTENT_FIELDS if field.name not in COVER]
TEXTS = [field.name for field in TEXT_FIELDS]
SELECTION = " ".join(field.api_name for field in TEXT_FIELDS)  # of a post or a working copy
EMPTY: dict[str, Any] = {
    field.name: [] if field.kind == Kind.WORDS else None if field.name in OPTIONAL else "" for field in CONTENT_FIELDS
}


def make_text(name: str, word: str) -> Any:
    """Return a value of a field with a word that nothing else contains."""
    return {"tags": [word], "canonical_url": f"https://www.example.com/{word}"}.get(name, word)
