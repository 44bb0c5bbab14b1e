"""No word of a Markdown text is missing from its HTML."""

import re
from collections import Counter
from functools import partial, reduce
from html import unescape
from html.parser import HTMLParser

import pytest
from django.conf import settings as django_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.files.syntax import split_front_matter
from blog.rendering import render_markdown, render_post
from tests.blog.examiner import Examiner
from tests.thoroughness import IS_THOROUGH, scale_examples

REAL = django_settings.BASE_DIR.parent / "shared" / "content"
WORD = re.compile(r"\w+")
EMPHASIS = re.compile(r"[*_`~]|(?<!\])\[|\](?!\[)")  # is in words: `await`s
# What no reader of a text sees, from its start to its end
UNSEEN = {"<!--": "-->", **{f"<{name}": f"</{name}" for name in ("iframe", "script", "style", "template")}}
# What is no word of a text: tags, addresses of links, definitions of references, what follows a fence, ids of headings
SYNTAX = [
    r"</?[a-zA-Z][^<>]*>",
    r"(?<=\])\((?:[^()\s]|\([^()]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)",
    r"(?<=\])\[[^\]]*\]",
    r"^[> ]*\[(?!\^)[^\]]+\]:\s*.*$",
    r"\[\^[^\]]+\]",
    r"(?<=```).*$|(?<=~~~).*$",
    r"\{#[^}]*\}",
    r"^[>\s]*\d+[.)]\s|\[x\]",
    r"\\(?=[^a-zA-Z0-9\s])",
]
SWALLOWING = [
    "title", "textarea", "style", "script", "iframe", "select", "object", "template", "noscript", "xmp", "noembed",
    "noframes", "plaintext", "svg", "math", "details", "table", "option", "div", "b", "pre", "p", "a", "frameset",
    "path", "text", "foreignObject", "mi", "annotation-xml", "missing-glyph", "String",
]  # fmt: skip


INLINE = "a abbr b bdi bdo cite code del dfn em i img input ins kbd mark q s samp small span strike strong tt u"


class Reader(HTMLParser):
    """Collects the text of sanitised HTML, and the texts of images."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.text += "".join(value or "" for name, value in attrs if name == "alt")
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self.text += "" if tag in INLINE.split() else " "

    def handle_data(self, data: str) -> None:
        self.text += data


def read_words(html: str) -> list[str]:
    return WORD.findall(EMPHASIS.sub("", Reader(html).text))


def is_unseen(text: str, position: int) -> bool:
    """Whether a comment or the code of a script may be around a place."""
    lowered = text.lower()
    return any(start in lowered[:position] and end in lowered[position:] for start, end in UNSEEN.items())


def count_words(text: str) -> Counter[str]:
    """Return the words of a Markdown text that readers must see, with or without spaces in place of its syntax."""
    for start, end in UNSEEN.items():
        text = re.sub(f"{start}.*?{end}", "", text, flags=re.DOTALL | re.IGNORECASE)
    close, apart = (
        Counter(WORD.findall(EMPHASIS.sub("", unescape(reduce(partial(remove, space), SYNTAX, text)))))
        for space in ("", " ")
    )
    return close & apart


def remove(space: str, text: str, syntax: str) -> str:
    return re.sub(syntax, space, text, flags=re.MULTILINE)


@pytest.mark.skipif(not REAL.is_dir(), reason=f"there is no {REAL}, the real posts")
def test_no_word_of_real_posts_is_missing_in_their_html_and_no_markup_is_in_their_default_texts() -> None:
    paths = [path for path in sorted(REAL.rglob("*.md")) if path.is_file()]
    assert len(paths) >= 750
    words, some = 0, 1 if IS_THOROUGH else 15
    for path in paths[::some]:
        _, body = split_front_matter(path.read_text())
        seen, rendering = count_words(body), render_post(body, None)
        assert seen - Counter(read_words(rendering.body_html)) == Counter(), path.name
        assert Examiner(rendering.body_html).findings == []
        assert bool(rendering.default_excerpt) == bool(body.strip())
        assert "](" not in rendering.default_excerpt
        words += seen.total()
    assert words >= 200_000 // some


def test_name_in_angle_brackets_hides_nothing() -> None:
    for name in ["path", "Text", "in", "mi", "annotation-xml", "missing-glyph", "String", "title"]:
        html = render_markdown(f"Run <{name}> and **wait**.\n\n<svg><{name}>In.</{name}></svg> Later.")

        assert read_words(html) == ["Run", "and", "wait", "In", "Later"]
        assert read_words(render_markdown(f"Run <{name}> and **wait**.")) == ["Run", *name.split("-"), "and", "wait"]


TAGS = st.builds(
    str.format,
    st.sampled_from(["<{}>", "</{}>", "<{} />", "<{} class='x'>", "<{}\nid=x>", "\n<{}>\n", "\n\n<{}>", "\n</{}>\n\n"]),
    st.sampled_from(SWALLOWING) | st.sampled_from(SWALLOWING).map(str.upper),
)
PIECES = TAGS | st.sampled_from([
    "<!--", "-->", "\n<!--\n", "<!-->", "<!x ", "<?x ", "?>", "\n<![CDATA[\n", "]]>", "<", "<3", "</ ", "&lt;",
    "\n```\n", "\n```js,x{1}\n", "\n~~~~{.x}\n", "\n    ", "\n> ", "\n- ", "\n1. ", "\n# ", "\n\n", "\n", "*", "`",
    "[a]", "[b][a]", "![", "](https://a.invalid)", "\n\n[a]: https://a.invalid\n",
    "[^a]", "[^b]", "[^é&]", "\n[^a]: ", "\n\n[^b]: ", "\n[^é&]: ", "\n> [^c]: ",
])  # fmt: skip


@pytest.mark.property
@settings(max_examples=scale_examples(3000), deadline=None)
@given(pieces=st.lists(PIECES, max_size=30), quote=st.none() | st.tuples(st.integers(0, 29), st.sampled_from("'\"")))
def test_no_word_between_any_pieces_is_missing(pieces: list[str], quote: tuple[int, str] | None) -> None:
    if quote is not None and quote[1] not in "".join(pieces):
        pieces.insert(quote[0], f"<a title={quote[1]}")
    text = ""
    words = {}
    for number, piece in enumerate(pieces):
        words[f"w{number}w"] = len(text) + len(piece) + 1
        text += f"{piece} w{number}w "

    html = render_markdown(text)

    expected = [word for word, position in words.items() if not is_unseen(text, position)]
    assert set(expected) <= set(read_words(html))
