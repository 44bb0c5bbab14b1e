"""The child process that parses front matter: its responses, its limits, and what happens when it ends."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from blog.files.reading import LimitedParser
from blog.files.syntax import InvalidFile, parse_text
from tests.patches import CLOSE

SOUP = b'+++\ntitle = "Soup"\ndate = 2015-05-15\n+++\nBoil.\n'
SLOW = b"---\n" + b"- [a, b]\n" * 7000 + b"---\n"  # takes more than a second


@pytest.fixture
def parser() -> Iterator[LimitedParser]:
    with closing(LimitedParser()) as parser:
        yield parser


def test_child_responds_as_the_function_does_and_parses_file_by_file(parser: LimitedParser) -> None:
    for content in (SOUP, b"---\ntitle: \xc3\x96l\n1: [null, 2024-01-09]\n---\n" + b"x" * 1_000_000, SOUP):
        assert parser.parse(content) == parse_text(content)


def test_refused_file_has_its_reason_and_does_not_end_the_child(parser: LimitedParser) -> None:
    parser.parse(SOUP)
    child = parser.child

    with pytest.raises(InvalidFile, match="does not begin with front matter"):
        parser.parse(b"# Soup")

    assert parser.parse(SOUP) == parse_text(SOUP)
    assert parser.child is child


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS ignores the limit of memory")
def test_file_that_needs_more_memory_is_refused_and_the_next_one_is_parsed() -> None:
    with closing(LimitedParser(memory=128 * 2**20)) as parser:
        with pytest.raises(InvalidFile, match=r"^cannot be parsed with 128 MiB of memory and 20 s of CPU time\."):
            parser.parse(SOUP + b"x" * 80_000_000)

        assert parser.parse(SOUP) == parse_text(SOUP)


def kill(parser: LimitedParser, number: int) -> None:
    assert parser.child is not None
    os.kill(parser.child.pid, number)


def test_child_that_was_killed_between_two_files_is_replaced(parser: LimitedParser) -> None:
    parser.parse(SOUP)
    kill(parser, signal.SIGKILL)
    assert parser.child is not None
    parser.child.wait()

    assert parser.parse(SOUP) == parse_text(SOUP)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_to_the_whole_service_do_not_end_the_child(parser: LimitedParser, number: int) -> None:
    parser.parse(SOUP)
    child = parser.child
    kill(parser, number)

    assert parser.parse(SOUP) == parse_text(SOUP)
    assert parser.child is child


def end_while_parsing(parser: LimitedParser) -> None:
    parser.begin(SOUP)
    kill(parser, signal.SIGSTOP)


@pytest.mark.parametrize("before", [lambda _: None, end_while_parsing])
def test_closed_parser_leaves_no_process(
    parser: LimitedParser, before: Callable[[LimitedParser], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LimitedParser, "close", CLOSE)
    parser.parse(SOUP)
    child = parser.child
    before(parser)

    parser.close()

    assert child is not None
    assert child.returncode is not None
    assert parser.child is None


def test_caller_is_asked_while_the_child_works(parser: LimitedParser) -> None:
    parser.parse(SOUP)
    signals = iter([signal.SIGSTOP, signal.SIGCONT])

    def pause() -> None:
        kill(parser, next(signals, signal.SIGCONT))

    parser.pause = pause

    assert parser.parse(SOUP) == parse_text(SOUP)
    kill(parser, signal.SIGCONT)  # the response may have come before the stop, and a stopped child does not end
