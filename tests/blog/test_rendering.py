"""Markdown to HTML: what readers see, what is removed, and the limits of the work."""

import re
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import escape
from html.parser import HTMLParser

import pytest
from django.conf import settings as django_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.files.syntax import split_front_matter
from blog.models import MAX_BODY
from blog.rendering import render_markdown, render_post
from blog.rendering.limits import MAX_MAIL_ADDRESSES
from blog.rendering.markdown import (
    ATTRIBUTES,
    CLASSES,
    ELEMENTS,
    FOOTNOTE,
    LANGUAGE,
    MAX_HTML,
    SANITIZERS,
    SCHEMES,
)
from tests.blog.xss import VECTORS
from tests.thoroughness import scale_examples

REAL = django_settings.BASE_DIR.parent / "shared" / "content"
ADDRESSES = {"href", "src"}


def fill(text: str) -> str:
    """Return the text repeated until it has the greatest length of a body."""
    return (text * (MAX_BODY // len(text) + 1))[:MAX_BODY]


class Examiner(HTMLParser):
    """Collects the parts of sanitised HTML, and what must not be in it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.findings: list[str] = []
        self.parts: list[object] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append((tag, sorted(attrs)))
        if tag not in ELEMENTS.split():
            self.findings.append(f"element {tag}")
        for name, value in attrs:
            if not is_allowed(tag, name, value or ""):
                self.findings.append(f"attribute {tag} {name}={value}")
            if name in ADDRESSES and not is_safe_address(value or ""):
                self.findings.append(f"address {value}")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(tag)

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_comment(self, data: str) -> None:
        self.findings.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        self.findings.append(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        self.findings.append(f"instruction {data}")


def is_allowed(tag: str, name: str, value: str) -> bool:
    if name == "class":
        return value in CLASSES.get(tag, set()) or (tag == "code" and LANGUAGE.fullmatch(value) is not None)
    if name == "id":
        return tag in ("a", "li") and FOOTNOTE.fullmatch(value) is not None
    if tag == "input":
        return (name, value) in [("type", "checkbox"), ("disabled", ""), ("checked", "")]
    return name in ATTRIBUTES["*"] | ATTRIBUTES.get(tag, set()) | {"data-sourcepos"} or (tag, name) == ("a", "rel")


def is_safe_address(address: str) -> bool:
    """Whether a browser, which ignores control characters and blanks, reads an allowed scheme or none."""
    scheme = re.match(r"([a-z][a-z0-9+.-]*):", re.sub(r"[\x00-\x20]", "", address).lower())
    return scheme is None or scheme[1] in SCHEMES


@pytest.mark.parametrize("vector", VECTORS)
def test_rendered_attack_has_only_allowed_elements_and_addresses(vector: str) -> None:
    for text in (vector, f"Some text {vector} and more", f"> {vector}\n", f"- a\n- {vector}\n"):
        html = render_markdown(text, with_lines=True)

        assert Examiner(html).findings == []
        assert Examiner(SANITIZERS[True].clean(html)).parts == Examiner(html).parts  # a parser reads what it wrote


def test_corpus_has_many_different_attacks() -> None:
    assert len(set(VECTORS)) == len(VECTORS) >= 60


def test_examiner_finds_every_kind_of_danger() -> None:
    for html in ("<script>", "<b onclick=x>", "<a id=x>", "<a href=' java\tscript:x'>", "<!--x-->", "<!x>", "<?x>"):
        assert Examiner(html).findings


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# One\n\ntwo *three* **four**", "<h1>One</h1>\n<p>two <em>three</em> <strong>four</strong></p>\n"),
        ("~~gone~~", "<p><del>gone</del></p>\n"),
        ("a\\\nb", "<p>a<br>\nb</p>\n"),
        ("`a<b`", "<p><code>a&lt;b</code></p>\n"),
        (
            "[a](http://b.invalid 't')",
            '<p><a href="http://b.invalid" title="t" rel="noopener noreferrer nofollow">a</a></p>\n',
        ),
        ("![a](https://b.invalid/b.png)", '<p><img src="https://b.invalid/b.png" alt="a"></p>\n'),
        ("Imported <kbd>Ctrl</kbd> and<br/>more", "<p>Imported <kbd>Ctrl</kbd> and<br>more</p>\n"),
        (
            "<figure>\n<img src='//b.invalid/a.png' width=3>\n</figure>",
            '<figure>\n<img src="//b.invalid/a.png" width="3">\n</figure>\n',
        ),
        ("", ""),
    ],
)
def test_text_is_rendered_as_markdown_with_html(text: str, html: str) -> None:
    assert render_markdown(text) == html


@pytest.mark.parametrize(
    "address", ["b.png", "/b.png", "./b.png", "../b.png", "?b", "#b", "http:b.png", "https:/b.png", " b.png", ""]
)
def test_image_without_a_host_has_no_address(address: str) -> None:
    for text in (f"![a](<{address}>)", f'<p><img alt="a" src="{address}"></p>'):
        assert "src" not in render_markdown(text)
        assert 'alt="a"' in render_markdown(text)


def test_blocks_name_the_lines_that_they_come_from() -> None:
    text = "# One\n\ntwo *and*\nthree\n\n- four\n- five\n\n```py\nsix\n```\n\na|b\n-|-\n1|2\n"

    found = re.findall(r'<(\w+)[^>]* data-sourcepos="(\d+):\d+-(\d+):\d+"', render_markdown(text, with_lines=True))

    assert found == [
        ("h1", "1", "1"),
        ("p", "3", "4"),
        ("ul", "6", "7"),
        ("li", "6", "6"),
        ("li", "7", "8"),
        ("pre", "9", "11"),
        ("table", "13", "15"),
        ("tr", "13", "13"),
        ("tr", "15", "15"),
    ]
    assert "sourcepos" not in render_markdown(text)


def test_code_names_its_language() -> None:
    assert '<pre><code class="language-c++">' in render_markdown("```c++ title=x\n1\n```")
    assert "<pre><code>" in render_markdown('<pre><code class="hidden language-py">1</code></pre>')


def test_task_lists_have_checkboxes_that_nobody_can_use() -> None:
    html = render_markdown("- [x] one\n- [ ] two\n\n<input type=text name=password onfocus=x><input>")

    assert re.findall("<input[^>]*>", html) == [
        '<input type="checkbox" checked="" disabled="">',
        '<input type="checkbox" disabled="">',
        '<input type="checkbox" disabled="">',
        '<input disabled="">',
    ]


def test_footnotes_link_to_their_marks_and_back() -> None:
    html = render_markdown("One[^a], two[^b] and one again[^a].\n\n[^a]: First.\n[^b]: Second.")

    addresses, ids = re.findall('href="#([^"]+)"', html), re.findall(' id="([^"]+)"', html)
    assert len(ids) == len(set(ids)) == 5
    assert set(addresses) == set(ids)
    assert '<section class="footnotes">' in html


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("See https://a.invalid/b_c.", "https://a.invalid/b_c"),
        ("See www.a.invalid!", "http://www.a.invalid"),
        ("Write to ann@a.invalid.", "mailto:ann@a.invalid"),
        ("[a](/b?c#d)", "/b?c#d"),
    ],
)
def test_bare_and_relative_addresses_are_links(text: str, address: str) -> None:
    assert re.findall('href="([^"]*)"', render_markdown(text)) == [address]


@pytest.mark.parametrize("scheme", ["javascript", "JAVASCRIPT", "data", "vbscript", "file", "blob"])
def test_other_schemes_are_removed(scheme: str) -> None:
    for text in (f"[a]({scheme}:x)", f"<{scheme}:x>", f'<a href="{scheme}:x">a</a>', f"[a]: {scheme}:x\n\n[a]"):
        assert "href" not in render_markdown(text)


def test_cells_of_a_table_keep_their_alignment() -> None:
    html = render_markdown("a|b\n:-|-:\n1|2")

    assert re.findall(r"<t[hd](?: [^>]*)?>", html) == [
        '<th align="left">',
        '<th align="right">',
        '<td align="left">',
        '<td align="right">',
    ]


PROSE = "A **boat** is named [after](https://a.invalid/b) a person, `and` _can_ swim; the list is long.\n"


ORDINARY = [
    fill(f"## Title\n\n{PROSE * 5}\n- one\n- two\n\n> quote\n\n"),
    fill("word "),
    fill("\n"),
    fill("a|b\n-|-\n"),
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


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("length", [20_000, pytest.param(MAX_BODY, marks=pytest.mark.thorough)])
def test_repeated_piece_is_rendered_in_a_thread_with_a_small_stack(piece: str, length: int) -> None:
    rendered = run_with_small_stack(lambda: render_markdown(fill(piece)[:length]))

    assert Examiner(rendered).findings == []
    assert len(rendered) < 4 * MAX_HTML


# False ends of <b> or <g>, which stay open
HIDDEN_ENDS = (
    "<i title='</b>'>", "<!--</b>-->", "<title></b></title>", "<svg><g><![CDATA[></g>]]>", "<select></b></select>",
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        ">" * 10_000,
        "<b>" * 10_000,
        "<div>\n\n" * 10_000,
        "<li><dd>" * 10_000,
        "<span><p></span></p>" * 9_000,
        "".join(f"<div><b id={number} title='</b>'></div><p>x</p>" for number in range(4_000)),
        *(f"<b class='{end}'><table><tr><td>" * 2_000 for end in ("</b>", "</table>")),
        *(f"<div><b id=x>{end}<p>" * 3_000 for end in HIDDEN_ENDS),
    ],
)
def test_text_of_extreme_depth_is_shown_as_it_is(text: str) -> None:
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
def test_long_text_with_html_of_imported_posts_is_rendered(block: str) -> None:
    assert not render_markdown(fill(block)[: -len(block)]).startswith("<pre>")


@pytest.mark.parametrize(
    "text",
    [
        "|a" * 300 + "\n" + "|-" * 300 + "\n" + "a\n" * 99_000,
        ("|a" * 40 + "\n" + "|-" * 40 + "\n" + "a\n" * 300 + "\n") * 250,
        "> - " + "|a" * 300 + "\n>   " + "|:-" * 300 + "\r" + "> a\r" * 9_000,
    ],
)
def test_table_of_more_cells_than_can_be_written_is_shown_as_it_is(text: str) -> None:
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


def test_text_that_would_be_much_longer_is_shown_as_it_is() -> None:
    text = fill("[^a]") + "\n\n[^a]: b"
    assert render_markdown(text).startswith("<pre>[^a][^a]")


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


@pytest.mark.skipif(not REAL.is_dir(), reason=f"there is no {REAL}, the real posts")
def test_real_posts_are_rendered_without_markup_in_their_default_texts() -> None:
    paths = [path for path in REAL.rglob("*") if path.is_file() and path.suffix == ".md"]
    assert len(paths) >= 750
    for path in paths:
        _, body = split_front_matter(path.read_text())
        rendering = render_post(body, None)
        assert Examiner(rendering.body_html).findings == []
        assert bool(rendering.default_excerpt) == bool(body.strip())
        assert "](" not in rendering.default_excerpt
