"""Markdown to HTML: what readers see, what is removed, and the limits of the work."""

import re
from html.parser import HTMLParser

import pytest

from blog.desk import rendering
from blog.desk.rendering import ATTRIBUTES, ELEMENTS, SCHEMES, render_markdown
from blog.models import MAX_BODY
from contentapi.core.errors import Invalid
from tests.blog.xss import VECTORS

ADDRESSES = {"href", "src"}


def fill(text: str) -> str:
    """Return the text repeated until it has the greatest length of a body."""
    return (text * (MAX_BODY // len(text) + 1))[:MAX_BODY]


class Examiner(HTMLParser):
    """Collects what must not be in sanitised HTML."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.findings: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ELEMENTS.split():
            self.findings.append(f"element {tag}")
        for name, value in attrs:
            if name not in ATTRIBUTES["*"] | ATTRIBUTES.get(tag, set()) and (tag, name) != ("a", "rel"):
                self.findings.append(f"attribute {tag} {name}")
            if name in ADDRESSES and not is_safe_address(value or ""):
                self.findings.append(f"address {value}")

    def handle_comment(self, data: str) -> None:
        self.findings.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        self.findings.append(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        self.findings.append(f"instruction {data}")


def is_safe_address(address: str) -> bool:
    """Whether a browser, which ignores control characters and blanks, reads an allowed scheme or none."""
    scheme = re.match(r"([a-z][a-z0-9+.-]*):", re.sub(r"[\x00-\x20]", "", address).lower())
    return scheme is None or scheme[1] in SCHEMES


@pytest.mark.parametrize("vector", VECTORS)
def test_rendered_attack_has_only_allowed_elements_and_addresses(vector: str) -> None:
    for text in (vector, f"Some text {vector} and more", f"> {vector}\n", f"- a\n- {vector}\n"):
        html = render_markdown(text, with_lines=True)

        assert Examiner(html).findings == []
        assert rendering.SANITIZER.clean(html) == html  # a second parser reads the same


def test_corpus_has_many_different_attacks() -> None:
    assert len(set(VECTORS)) == len(VECTORS) >= 60


def test_examiner_finds_every_kind_of_danger() -> None:
    for html in ("<script>", "<b onclick=x>", "<a id=x>", "<a href=' java\tscript:x'>", "<!--x-->", "<!x>", "<?x>"):
        assert Examiner(html).findings


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# One\n\ntwo *three* **four**", "<h1>One</h1>\n<p>two <em>three</em> <strong>four</strong></p>\n"),
        ("~~gone~~", "<p><s>gone</s></p>\n"),
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
            '<figure>\n<img src="//b.invalid/a.png" width="3">\n</figure>',
        ),
        ("", ""),
    ],
)
def test_text_is_rendered_as_commonmark_with_html(text: str, html: str) -> None:
    assert render_markdown(text) == html


@pytest.mark.parametrize(
    "address", ["b.png", "/b.png", "./b.png", "../b.png", "?b", "#b", "http:b.png", "https:/b.png", " b.png", ""]
)
def test_image_without_a_host_has_no_address(address: str) -> None:
    for text in (f"![a](<{address}>)", f'<p><img alt="a" src="{address}"></p>'):
        assert "src" not in render_markdown(text)
        assert 'alt="a"' in render_markdown(text)


def test_blocks_name_the_lines_that_they_come_from() -> None:
    text = "# One\n\ntwo\nthree\n\n- four\n- five\n\n```py\nsix\n```\n\na|b\n-|-\n1|2\n"

    found = re.findall(r'<(\w+)[^>]* data-lines="(\d+-\d+)"', render_markdown(text, with_lines=True))

    assert found == [
        ("h1", "0-1"),
        ("p", "2-4"),
        ("ul", "5-8"),
        ("li", "5-6"),
        ("li", "6-8"),
        ("code", "8-11"),
        ("table", "12-15"),
        ("thead", "12-13"),
        ("tr", "12-13"),
        ("tbody", "14-15"),
        ("tr", "14-15"),
    ]


def test_cells_of_a_table_keep_their_alignment() -> None:
    html = render_markdown("a|b\n:-|-:\n1|2")

    assert re.findall(r"<t[hd](?: [^>]*)?>", html) == [
        '<th align="left">',
        '<th align="right">',
        '<td align="left">',
        '<td align="right">',
    ]


PROSE = "A **boat** is named [after](https://a.invalid/b) a person, `and` _can_ swim; the list is long.\n"


@pytest.mark.parametrize(
    "text", [fill(f"## Title\n\n{PROSE * 5}\n- one\n- two\n\n> quote\n\n"), fill("word "), fill("\n"), fill("*")]
)
def test_longest_ordinary_text_is_rendered(text: str) -> None:
    assert isinstance(render_markdown(text), str)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(fill("[a]("), id="links"),
        pytest.param(fill("- a\n"), id="list"),
        *(
            pytest.param(fill(text), id=name, marks=pytest.mark.thorough)
            for name, text in (
                ("brackets", "["),
                ("images", "!["),
                ("emphasis", "*a_"),
                ("headings", "a\n=\n"),
                ("underscores", "a_b_"),
            )
        ),
    ],
)
def test_text_that_takes_long_is_refused_in_words(text: str) -> None:
    with pytest.raises(Invalid, match=r"more than 100,000 pieces of Markdown .* it can be saved\."):
        render_markdown(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(fill("<div>"), id="block"),
        pytest.param(fill("a <b>"), id="inline"),
        pytest.param(fill("<div>\n\n"), id="blocks", marks=pytest.mark.thorough),
    ],
)
def test_text_with_too_many_html_tags_is_refused_in_words(text: str) -> None:
    with pytest.raises(Invalid, match=r"more than 20,000 HTML tags\."):
        render_markdown(text)


@pytest.mark.parametrize("text", [">" * 10_000, "[" * 10_000, "- " * 10_000, "![" * 10_000, "<b>" * 10_000])
def test_deeply_nested_text_is_rendered_without_an_error(text: str) -> None:
    assert isinstance(render_markdown(text), str)
