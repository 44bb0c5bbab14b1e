"""Conditional requests: entity tags, If-None-Match, and the lists of tags in a header."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contentapi.core.errors import Malformed
from contentapi.core.identity import Role
from contentapi.http.conditional import etag_matches, parse_if_match, resolve_expected_version
from tests.contentapi.http.entity_tags import MINE, get_etag, make_own_post
from tests.factories import make_actor, make_author, make_comment, make_order, make_post, make_user
from tests.resources import send_request


def make_single_resources() -> dict[str, str]:
    """Return the path of each kind of resource, with the version that it is at."""
    post = make_post(version=4)
    comment = make_comment(post)
    shipped = make_order(status="shipped", carrier="c", tracking_number="1", shipped_at=post.created_at)
    return {
        f"/posts/{post.pk}": "4",
        f"/posts/{post.pk}/comments/{comment.pk}": "1",
        f"/authors/{post.author.pk}": "1",
        f"/users/{make_user().pk}": "1",
        f"/orders/{make_order().pk}": "1",
        f"/orders/{shipped.pk}": "3",
        f"/orders/{shipped.pk}/tracking": "3",
    }


def test_single_resource_has_an_etag_and_is_304_for_it() -> None:
    admin = make_actor(Role.ADMIN)

    for path, version in make_single_resources().items():
        first = send_request("GET", path, actor=admin)
        head = send_request("HEAD", path, actor=admin)
        again = send_request("GET", path, actor=admin, If_None_Match=first.headers["ETag"])
        prefixed = send_request("HEAD", f"/v1{path}", actor=admin, If_None_Match=first.headers["ETag"])

        assert first.headers["ETag"].startswith(f'"{version}-')
        assert head.headers["ETag"] == first.headers["ETag"]
        assert (again.status, again.content) == (prefixed.status, prefixed.content) == (304, b"")


def test_collections_have_no_etag() -> None:
    assert "ETag" not in send_request("GET", "/posts").headers
    assert send_request("GET", "/posts", If_None_Match="*").status == 200


def test_304_has_the_headers_that_a_cache_needs() -> None:
    path = f"/posts/{make_post().pk}"
    first = send_request("GET", path)

    again = send_request("GET", path, If_None_Match=first.headers["ETag"])

    same = ("ETag", "Cache-Control", "Vary", "X-API-Version", "Content-Length")
    assert [again.headers[name] for name in same] == [first.headers[name] for name in same]
    assert "Content-Type" not in again.headers


@pytest.mark.parametrize("if_none_match", [MINE, f"W/{MINE}", f'"other", {MINE}', f'"a,b" ,, W/{MINE},"c"', "*"])
def test_if_none_match_is_a_list_and_accepts_weak_tags(if_none_match: str) -> None:
    assert etag_matches(MINE, if_none_match)


@pytest.mark.parametrize("if_none_match", ['"other"', 'W/"1-0"', f'"{MINE}"', "1", "not a tag", ""])
def test_if_none_match_without_the_tag_does_not_match(if_none_match: str) -> None:
    assert not etag_matches(MINE, if_none_match)


def test_hidden_resource_is_404_and_not_304() -> None:
    actor, path = make_own_post(status="draft")

    assert send_request("GET", path, If_None_Match="*").error[0] == 404
    assert send_request("GET", path, actor=actor, If_None_Match="*").status == 304


def test_etag_differs_between_callers_who_see_different_fields() -> None:
    path = f"/authors/{make_author(email='ines@example.invalid').pk}"

    public, editors = get_etag(path), get_etag(path, make_actor(Role.EDITOR))

    assert public != editors
    assert public == get_etag(path, make_actor(Role.READER)) == get_etag(f"/v1{path}")


def test_write_returns_the_etag_of_the_next_read() -> None:
    actor = make_actor(Role.AUTHOR)

    def write(method: str, path: str, body: Any = None) -> tuple[str, str]:
        response = send_request(method, path, body, actor=actor)
        assert response.status in (200, 201), response.body
        place = response.headers.get("Location") or path.removesuffix("/publish").removesuffix("/payment")
        assert response.headers["ETag"] == get_etag(place, actor)
        return place, str(response.headers["ETag"])

    post, first = write("POST", "/posts", {"title": "t", "body": "b"})
    _, second = write("PATCH", post, {"title": "u"})
    _, third = write("POST", f"{post}/publish")
    write("POST", f"{post}/comments", {"body": "x"})
    order, _ = write("POST", "/orders", {"total": 1})
    _, paid = write("POST", f"{order}/payment")
    assert [text[:3] for text in (first, second, third, paid)] == ['"1-', '"2-', '"3-', '"2-']


def test_text_that_resembles_a_version_is_unchanged() -> None:
    text = 'x","version":"9"}'
    path = f"/posts/{make_post(body=text, title=text, tags=[text]).pk}"

    response = send_request("GET", path)

    assert [response.body["body"], response.body["tags"]] == [text, [text]]
    assert "version" not in response.body
    assert response.headers["ETag"].startswith('"1-')


def test_if_none_match_on_a_write_is_400() -> None:
    actor, path = make_own_post()

    response = send_request("PATCH", path, {"title": "New"}, actor=actor, If_None_Match=MINE)

    assert response.error[:2] == (400, "BAD_REQUEST")


TAGS = st.text(st.characters(codec="latin-1", exclude_characters='"\x7f', min_codepoint=0x21), max_size=9)


@pytest.mark.property
@given(st.lists(TAGS, min_size=1, max_size=4), st.sampled_from([",", ", ", " ,,\t"]))
def test_every_list_of_tags_is_parsed(tags: list[str], between: str) -> None:
    if_match = between.join(f'"{text}"' for text in tags)

    assert isinstance(parse_if_match(if_match), frozenset)
    assert all(etag_matches(f'"{text}"', if_match) for text in tags)


@given(st.text(st.sampled_from('"7-, \tW/*x'), max_size=40))
def test_any_if_match_is_parsed_or_400(if_match: str) -> None:
    try:
        expected = resolve_expected_version(if_match, None)
    except Malformed:
        return
    assert isinstance(expected, frozenset) or expected is None
    assert all(version.isdecimal() for version in expected or ())
