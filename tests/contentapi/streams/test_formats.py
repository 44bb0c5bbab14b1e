"""The bytes of streams, as their clients read them."""

import pytest

from contentapi.streams.formats import FEED, GRAPHQL_FORMATS, EventStream

EVENTS, MULTIPART = GRAPHQL_FORMATS


def test_event_of_rest_has_its_cursor_and_its_json() -> None:
    assert FEED.begin("e-1") == b"retry: 2000\nid: e-1\n\n"
    assert FEED.frame(b'{"a":1}', "e-2") == b'id: e-2\ndata: {"a":1}\n\n'


def test_value_of_graphql_is_an_event_next() -> None:
    assert EVENTS.frame(b'{"data":null}', "e-2") == b'id: e-2\nevent: next\ndata: {"data":null}\n\n'
    assert EVENTS.frame(b'{"data":null}') == b'event: next\ndata: {"data":null}\n\n'
    assert EVENTS.end == b"event: complete\ndata:\n\n"


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
def test_line_ends_between_tokens_do_not_end_an_event(line_end: bytes) -> None:
    frame = FEED.frame(b'{"a":%s1}' % line_end, "e-2")

    assert frame.count(b"\n") == 3
    assert b"\r" not in frame


@pytest.mark.parametrize("format_", [FEED, EVENTS])
def test_sign_of_life_is_a_comment_with_the_present_cursor(format_: EventStream) -> None:
    assert format_.keep_alive("e-9") == b":\nid: e-9\n\n"
    assert format_.keep_alive("") == b":\n\n"


def test_delimiter_follows_each_part() -> None:
    stream = MULTIPART.begin("e-1") + MULTIPART.frame(b'{"data":null}', "e-2") + MULTIPART.keep_alive("e-2")

    assert stream + MULTIPART.end == (
        b"--graphql\r\ncontent-type: application/json\r\n\r\n"
        b'{"payload":{"data":null}}\r\n--graphql\r\ncontent-type: application/json\r\n\r\n{}\r\n--graphql--\r\n'
    )
