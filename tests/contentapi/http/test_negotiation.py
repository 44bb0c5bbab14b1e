"""The version of the API in the path, in Accept and in X-API-Version, and paths that keep their prefix."""

from typing import Any

import pytest
from django.urls import get_resolver

from contentapi.core.identity import Actor, Role
from contentapi.monitoring.records import format_route
from contentapi.rest import Resource
from contentapi.server.router import Router
from contentapi.urls import RESOURCES
from tests.factories import make_actor, make_author, make_post
from tests.resources import RestResponse, send_request

ORIGIN = "http://localhost:8000"  # the public URL by default: these requests have no Host
VENDOR = "application/vnd.contentapi.v1+json"
OTHER = "application/vnd.contentapi.v2+json"
PATHS = list(RESOURCES)


def test_router_and_django_find_the_same_resource() -> None:
    for path in PATHS:
        asked = "/" + path.replace("<str:", "").replace(">", "")
        found = Router(RESOURCES).match(asked)
        by_django = get_resolver().resolve(asked)

        assert found is not None, path
        assert isinstance(found[0], Resource)
        assert found[:2] == (getattr(by_django.func, "resource", None), by_django.kwargs)
        assert found[2] == format_route(by_django.route)


@pytest.mark.parametrize(
    "path",
    ["/", "", "/v1", "/v1/", "/v1/v1/posts", "/posts/", "/posts//", "/posts//comments", "//posts", "/*", "/posts/1/*"],
)
def test_router_leaves_other_paths_to_django(path: str) -> None:
    assert Router(RESOURCES).match(path) is None


@pytest.mark.parametrize(
    ("prefix", "headers"),
    [
        ("", {}),
        ("/v1", {}),
        ("", {"X_API_Version": "1"}),
        ("", {"Accept": VENDOR}),
        ("/v1", {"X_API_Version": "1", "Accept": VENDOR}),
        ("/v1", {"Accept": f"{OTHER}, {VENDOR};q=0.5"}),
        ("", {"Accept": f"{OTHER}, */*;q=0.1"}),
    ],
)
def test_every_way_to_name_the_version_gets_the_same_response(prefix: str, headers: dict[str, Any]) -> None:
    path = f"/posts/{make_post().pk}"

    response = send_request("GET", prefix + path, **headers)

    assert (response.status, response.content) == (200, send_request("GET", path).content)
    assert response.headers["X-API-Version"] == "1"
    assert {"Accept", "X-API-Version", "X-API-Key", "Authorization"} <= set(response.headers["Vary"].split(", "))


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (VENDOR, VENDOR),
        (f"{VENDOR}, */*", VENDOR),
        (f"application/json, {VENDOR}", "application/json"),
        (f"{VENDOR};q=0.5, application/json", "application/json"),
        ("*/*", "application/json"),
    ],
)
def test_response_has_the_preferred_media_type(accept: str, content_type: str) -> None:
    assert send_request("GET", "/posts", Accept=accept).headers["Content-Type"] == content_type


@pytest.mark.parametrize(
    ("prefix", "headers", "failure"),
    [
        ("/v2", {}, (404, "NOT_FOUND")),
        ("/v01", {}, (404, "NOT_FOUND")),
        ("", {"Accept": OTHER}, (406, "NOT_ACCEPTABLE")),
        ("", {"Accept": f"{VENDOR};q=0"}, (406, "NOT_ACCEPTABLE")),
        ("/v1", {"Accept": "text/html"}, (406, "NOT_ACCEPTABLE")),
        ("", {"X_API_Version": "2"}, (400, "BAD_REQUEST")),
        ("", {"X_API_Version": ""}, (400, "BAD_REQUEST")),
        ("", {"X_API_Version": "1, 2"}, (400, "BAD_REQUEST")),
        ("/v1", {"X_API_Version": "2"}, (400, "BAD_REQUEST")),
        ("/v1", {"Accept": OTHER}, (400, "BAD_REQUEST")),
        ("", {"X_API_Version": "1", "Accept": OTHER}, (400, "BAD_REQUEST")),
    ],
)
def test_unknown_version_is_refused(prefix: str, headers: dict[str, Any], failure: tuple[int, str]) -> None:
    response = send_request("GET", f"{prefix}/posts", **headers)

    assert response.error[:2] == failure
    assert response.headers["X-API-Version"] == "1"


def test_write_with_an_unknown_version_has_no_effect() -> None:
    response = send_request("POST", "/orders", {"total": 1}, actor=make_actor(Role.READER), X_API_Version="2")

    assert response.error == (400, "BAD_REQUEST", "X-API-Version must be 1. There is no other version.")


@pytest.mark.parametrize("prefix", ["", "/v1"])
def test_paths_in_responses_keep_the_prefix(prefix: str) -> None:
    actor = make_actor(Role.ADMIN)

    order = send_request("POST", f"{prefix}/orders", {"total": 1}, actor=actor)
    listed = send_request("GET", f"{prefix}/orders", actor=actor)
    post = send_request("POST", f"{prefix}/posts", {"title": "t", "body": "b"}, actor=actor)
    user = send_request("POST", f"{prefix}/users", {"name": "n", "email": "n@example.invalid"}, actor=actor)

    here = f"{prefix}/orders/{order.body['id']}"
    assert order.headers["Location"] == here
    assert order.body["_links"] == listed.body["data"][0]["_links"]
    assert [link["href"] for link in order.body["_links"].values()] == [here, here, f"{here}/payment"]
    assert post.headers["Location"] == f"{prefix}/posts/{post.body['id']}"
    assert user.headers["Location"] == f"{prefix}/users/{user.body['id']}"


def follow_next_links(path: str, actor: Actor | None = None) -> list[RestResponse]:
    """Return the pages of a collection, each found by the link in the one before."""
    responses = [send_request("GET", path, actor=actor)]
    while link := responses[-1].headers.get("Link"):
        assert link.startswith(f"<{ORIGIN}/")
        assert link.endswith('>; rel="next"')
        responses.append(send_request("GET", link.removeprefix(f"<{ORIGIN}").partition(">")[0], actor=actor))
    return responses


@pytest.mark.parametrize("prefix", ["", "/v1"])
@pytest.mark.parametrize("place", ["", "&offset=0"])
def test_next_links_visit_all_pages_with_filters_and_prefix(prefix: str, place: str) -> None:
    author = make_author()
    posts = [make_post(author=author, tags=["a b&c"]) for _ in range(5)]
    make_post(author=author)

    responses = follow_next_links(f"{prefix}/authors/{author.pk}/posts?limit=2&tag=a%20b%26c{place}")

    ids = [item["id"] for response in responses for item in response.body["data"]]
    assert ids == [str(post.pk) for post in reversed(posts)]
    links = [response.headers.get("Link") for response in responses]
    assert [link.startswith(f"<{ORIGIN}{prefix}/authors/{author.pk}/posts?") for link in links[:-1]] == [True, True]
