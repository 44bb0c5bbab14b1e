"""Texts whose rendering would take long, or much memory or stack."""

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.models import MAX_BODY
from blog.rendering import markdown, render_markdown
from blog.rendering.limits import MAX_MAIL_ADDRESSES
from blog.rendering.markdown import MAX_HTML, SANITIZERS
from tests.blog.examiner import Examiner
from tests.blog.xss import VECTORS
from tests.thoroughness import scale_examples


def fill(text: str) -> str:
    """Return the text repeated until it has the greatest length of a body."""
    return (text * (MAX_BODY // len(text) + 1))[:MAX_BODY]


PROSE = "A **boat** is named [after](https://a.invalid/b) a person, `and` _can_ swim; the list is long.\n"


ORDINARY = [
    fill(f"## Title\n\n{PROSE * 5}\n- one\n- two\n\n> quote\n\n"),
    fill("word "),
    fill("\n"),
    pytest.param(fill("a|b\n-|-\n"), marks=pytest.mark.thorough),
]
PIECES = (
    "[a](", "- a\n", "[", "![", "*a_", "a\n=\n", "a_b_", "a*b*", "`", "`a``", "~a", "|", "a|", "[^a]", "<", "&",
    "\\", "www.", "http://a", "a@b.c ", "a&#64;b.c ", "- [ ] ", "1. ", "> ", ">", "- ", "* + - ", "<b>",
    "<div>", "<div>\n\n", "a <b>", "<!--", "<a ", "[a]: b\n", "[^a]: b\n\n", "[^a]: > ", "\t", "\u0301",
    "```\n", "***", "_ _ ", "</p>", "<p>", "<table><tr>", "<b class=1>",
)  # fmt: skip


@pytest.mark.parametrize("text", ORDINARY)
def test_longest_ordinary_text_is_rendered(text: str) -> None:
    assert not render_markdown(text).startswith("<pre>")


@pytest.mark.thorough
@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("length", [5_000, MAX_BODY])
def test_repeated_piece_is_rendered_in_a_thread_with_a_small_stack(piece: str, length: int) -> None:
    rendered = run_with_small_stack(lambda: render_markdown(fill(piece)[:length]))

    assert Examiner(rendered).findings == []
    assert len(rendered) < 4 * MAX_HTML


# False ends of <b> or <g>, which stay open
HIDDEN_ENDS = (
    "<i title='</b>'>", "<!--</b>-->", "<title></b></title>", "<svg><g><![CDATA[></g>]]>", "<select></b></select>",
)  # fmt: skip


def test_text_of_extreme_depth_is_shown_as_it_is() -> None:
    for text in [
        ">" * 10_000,
        "<b>" * 10_000,
        "<div>\n\n" * 2_000,
        "<li><dd>" * 2_000,
        "<span><p></span></p>" * 2_000,
        "".join(f"<div><b id={number} title='</b>'></div><p>x</p>" for number in range(1_000)),
        *(f"<b class='{end}'><table><tr><td>" * 500 for end in ("</b>", "</table>")),
        *(f"<div><b id=x>{end}<p>" * 800 for end in HIDDEN_ENDS),
    ]:
        assert render_markdown(text) == f"<pre>{escape(text, quote=False)}</pre>"


@pytest.mark.parametrize(
    "block",
    [
        "<!-- wp:paragraph -->\n<p>A <b>boat</b></p>\n<!-- /wp:paragraph -->\n\n",
        "<iframe src='https://a.invalid/'></iframe>\n\nText\n\n",
        "<ul><li>A<li>boat<p>sails</ul><p>far\n\n",
        "<div><p>A<p>boat</div><img src=x><br/>\n\n",
        "<table><tr><td><p>A<td>boat</table>\n\n",
        "- A\n  - boat\n    > sails\n\n---\n",
    ],
)
@pytest.mark.parametrize("length", [50_000, pytest.param(MAX_BODY, marks=pytest.mark.thorough)])
def test_long_text_with_html_of_imported_posts_is_rendered(block: str, length: int) -> None:
    assert not render_markdown(block * (length // len(block))).startswith("<pre>")


def test_table_of_more_cells_than_can_be_written_is_shown_as_it_is() -> None:
    for text in [
        "|a" * 300 + "\n" + "|-" * 300 + "\n" + "a\n" * 99_000,
        ("|a" * 40 + "\n" + "|-" * 40 + "\n" + "a\n" * 300 + "\n") * 250,
        "> - " + "|a" * 300 + "\n>   " + "|:-" * 300 + "\r" + "> a\r" * 9_000,
    ]:
        assert render_markdown(text).startswith("<pre>")


@pytest.mark.parametrize("at", ["@", "&#64;", "&#x0040;", "&commat;"])
def test_text_with_many_mail_addresses_has_no_links_of_bare_addresses(at: str) -> None:
    text = f"ann{at}a.invalid " * MAX_MAIL_ADDRESSES

    assert run_with_small_stack(lambda: render_markdown(text)).count("mailto:") == MAX_MAIL_ADDRESSES
    assert run_with_small_stack(lambda: render_markdown(text * 8)).count("mailto:") == 0


def test_text_that_breaks_the_renderer_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def fail(*_: object) -> str:
        raise PanicException

    monkeypatch.setattr("comrak.render_markdown", fail)
    assert render_markdown("*a*") == "<pre>*a*</pre>"
    monkeypatch.setattr("comrak.render_markdown", lambda *_: sys.exit())
    with pytest.raises(SystemExit):
        render_markdown("*a*")


def test_text_that_would_be_much_longer_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "MAX_HTML", 5000)
    assert render_markdown("[^a]" * 100 + "\n\n[^a]: b").startswith("<pre>[^a][^a]")


def run_with_small_stack(work: Callable[[], str]) -> str:
    """Run in a thread whose stack is smaller than those of servers, which have 2 MB at least."""
    size = threading.stack_size(1024 * 1024)
    try:
        with ThreadPoolExecutor(1) as executor:
            return executor.submit(work).result()
    finally:
        threading.stack_size(size)


@pytest.mark.property
@settings(max_examples=scale_examples(2000), deadline=None)
@given(
    pieces=st.lists(
        st.sampled_from([*PIECES, "a", " ", "\n", "\n\n", "    ", *VECTORS]) | st.text(max_size=5), max_size=40
    )
)
def test_any_text_is_rendered_safely_and_always_equally(pieces: list[str]) -> None:
    text = "".join(pieces).encode("utf-8", "ignore").decode().replace("\0", "")

    html = render_markdown(text)

    assert Examiner(html).findings == []
    assert render_markdown(text) == html
    assert Examiner(SANITIZERS[False].clean(html)).parts == Examiner(html).parts
