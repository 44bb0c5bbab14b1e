"""What a method of a resource answers."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

from contentapi.core.entity_tags import Rendered


class Answer(NamedTuple):
    """A status, a body in JSON and headers."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}

    def with_headers(self, **headers: str) -> "Answer":
        """Return the same answer with more headers, whose names are written with underscores."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._replace(headers={**self.headers, **more})


def ok(found: Rendered) -> Answer:
    return Answer(HTTPStatus.OK, *found)


def created(location: str, made: Rendered) -> Answer:
    return Answer(HTTPStatus.CREATED, made.body, {"Location": location, **made.headers})


def no_content() -> Answer:
    return Answer(HTTPStatus.NO_CONTENT)
