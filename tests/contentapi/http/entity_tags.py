"""Entity tags of responses and posts of the caller, for the tests of conditional requests."""

from typing import Any

from contentapi.core.identity import Actor, Role
from tests.factories import make_actor, make_author, make_post
from tests.resources import send_request

MINE = '"1-c0ffee"'


def get_etag(path: str, actor: Actor | None = None) -> str:
    return str(send_request("GET", path, actor=actor).headers["ETag"])


def make_own_post(**values: Any) -> tuple[Actor, str]:
    author = make_author()
    post = make_post(author=author, **values)
    return make_actor(Role.AUTHOR, author=author), f"/posts/{post.pk}"
