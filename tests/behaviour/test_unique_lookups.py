"""A row that is looked up by a unique key is read without ORDER BY and LIMIT, which PostgreSQL would plan."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from blog.services import authors
from contentapi.core.identity import Role
from tests.conftest import make_api_key
from tests.factories import get_user, make_actor, make_comment, make_image, make_order, make_post, make_working_copy
from tests.graphql_requests import post_to_graphql
from tests.resources import send_request
from tests.webhook_rows import make_webhook

ORDERED = re.compile(r"ORDER BY (?!node\.place)|LIMIT")  # nodes are in the order of their ids
READS = ["post", "author", "order", "user", "image", "webhook"]
PATHS = [
    "/posts/POST?fields=id,workingCopy.version",
    "/posts/by-slug/SLUG?fields=id",
    "/posts/POST/comments/COMMENT",
    "/posts/POST/working-copy",
    "/authors/AUTHOR",
    "/orders/ORDER",
    "/users/USER",
    "/images/IMAGE",
    "/webhooks/WEBHOOK",
]
WRITES = [
    ("PATCH", "/posts/POST", {"title": "New"}),
    ("POST", "/posts/POST/publish", None),
    ("DELETE", "/posts/POST", None),
    ("DELETE", "/posts/POST/comments/COMMENT", None),
    ("POST", "/orders/ORDER/payment", None),
    ("DELETE", "/orders/ORDER", None),
    ("PATCH", "/images/IMAGE", {"alt": "A cat"}),
    ("PATCH", "/webhooks/WEBHOOK", {"name": "New"}),
]


def make_rows() -> tuple[dict[str, Any], str]:
    """Make a row of each type. Returns their ids, and the key of an admin."""
    post = make_post(slug="soup")
    make_working_copy(post)
    admin = make_actor(Role.ADMIN)
    ids = {"POST": post.pk, "SLUG": post.slug, "COMMENT": make_comment(post).pk, "AUTHOR": post.author_id}
    ids |= {
        "ORDER": make_order().pk,
        "USER": admin.user_id,
        "IMAGE": make_image().pk,
        "WEBHOOK": make_webhook(get_user(admin)).pk,
    }
    return ids, make_api_key(admin)


def fill(path: str, ids: dict[str, Any]) -> str:
    return re.sub("[A-Z]{4,}", lambda found: str(ids[found[0]]), path)


def test_root_fields_of_one_object() -> None:
    ids, key = make_rows()
    fields = [f"{name}(id: {name.upper()}) {{ id }}" for name in READS]
    text = fill(f"{{ viewer {{ user {{ id }} }} node(id: POST) {{ id }} {' '.join(fields)} }}", ids)
    with CaptureQueriesContext(connection) as captured:
        found = post_to_graphql({"query": text}, X_API_Key=key)

    assert all(found.data.values())
    assert [each["sql"] for each in captured if ORDERED.search(each["sql"])] == []


def test_resources() -> None:
    ids, key = make_rows()
    with CaptureQueriesContext(connection) as captured:
        found = [send_request("GET", fill(path, ids), X_API_Key=key).status for path in PATHS]

    assert found == [200] * len(PATHS)
    assert [each["sql"] for each in captured if ORDERED.search(each["sql"])] == []


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_row_that_a_write_locks(method: str, path: str, body: Any) -> None:
    ids, key = make_rows()
    with CaptureQueriesContext(connection) as captured:
        found = send_request(method, fill(path, ids), body, X_API_Key=key)

    assert found.status < 300
    locking = [each["sql"] for each in captured if "FOR UPDATE" in each["sql"]]
    assert locking
    assert [sql for sql in locking if ORDERED.search(sql)] == []


def test_author_of_a_new_post() -> None:
    for query in (authors.AUTHOR, authors.AUTHOR_OF_USER):
        assert not ORDERED.search(query.prepared.sql)
