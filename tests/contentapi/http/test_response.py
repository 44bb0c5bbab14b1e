"""Responses: entity tags, created resources."""

from contentapi.http.response import Response, build_tagged_response, created


def test_entity_tag_contains_version_and_hash_of_body() -> None:
    one, same, other = build_tagged_response(b"{}", 3), build_tagged_response(b"{}", 3), build_tagged_response(b"[]", 3)

    assert one == same
    assert one.headers["ETag"].startswith('"3-')
    assert one.headers != other.headers


def test_entity_tag_is_hash_of_canonical_text_if_there_is_one() -> None:
    assert build_tagged_response(b"x", 3, canonical=b"{}") == Response(
        200, b"x", build_tagged_response(b"{}", 3).headers
    )


def test_created_resource_is_201_with_location_and_entity_tag() -> None:
    assert created("/posts/1", Response(200, b"{}", {"ETag": '"1"'})) == Response(
        201, b"{}", {"Location": "/posts/1", "ETag": '"1"'}
    )
