"""Renders the Markdown of a post as HTML that is safe to show.

markdown-it-py renders CommonMark with tables and strikethrough. It keeps the HTML in the text, because imported posts
contain some. nh3 then removes every element, attribute and address that is not in the lists below. So the lists decide
what is safe, not the renderer.
"""

import re
from typing import Any

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from contentapi.core.errors import Invalid

# The renderer is recursive: a text has at most this many levels of quotes, lists and brackets. Deeper ones stay text.
MAX_NESTING = 20
# The work for a text is limited, because its time is the time of a thread. See tests/blog/test_rendering.py.
MAX_STEPS = 100_000
MAX_HTML_TAGS = 20_000
BLOCK_STEP = 2  # the start of a block takes about twice the time of a piece of a line

ELEMENTS = (
    "a abbr b bdi bdo blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption "
    "figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span strike strong sub "
    "summary sup table tbody td tfoot th thead time tr tt u ul var wbr"
)
# No `id` and no `name`: a page could take such an element for a variable. No `class` and no `style`: they could cover
# the page around the text. No `cite`: nh3 compares the schemes of `href` and `src` only.
ATTRIBUTES = {
    "*": {"data-lines", "dir", "lang", "title"},
    "a": {"href"},
    "bdo": {"dir"},
    "col": {"span"},
    "colgroup": {"span"},
    "del": {"datetime"},
    "details": {"open"},
    "img": {"alt", "height", "src", "width"},
    "ins": {"datetime"},
    "ol": {"reversed", "start"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan", "scope"},
    "time": {"datetime"},
}
SCHEMES = {"http", "https", "mailto", "tel"}
HAS_HOST = re.compile(r"(?:https?:)?//", re.IGNORECASE)
ALIGNMENTS = ("left", "center", "right")
# Elements whose content is removed with them, because it is not text of the post
DROPPED = "script style title template noscript noembed noframes iframe object svg math select textarea xmp"


def filter_attribute(element: str, name: str, value: str) -> str | None:
    """Leave out the address of an image that has no host: relative to a page of the admin it is another file."""
    return None if (element, name) == ("img", "src") and not HAS_HOST.match(value.strip()) else value


SANITIZER = nh3.Cleaner(
    tags=set(ELEMENTS.split()),
    attributes=ATTRIBUTES,
    attribute_filter=filter_attribute,
    url_schemes=SCHEMES,
    clean_content_tags=set(DROPPED.split()),
    link_rel="noopener noreferrer nofollow",
    strip_comments=True,
)


class WorkLimit:
    """Counts the steps of the renderer, by rules that come before its own and never apply."""

    def __init__(self, renderer: MarkdownIt) -> None:
        self.steps = 0
        containers = {"alt": ["paragraph", "reference", "blockquote", "list"]}
        renderer.block.ruler.before("table", "limit_work", self.count_block, containers)  # type: ignore[arg-type]
        renderer.inline.ruler.before("text", "limit_work", self.count_inline)

    def count_block(self, *_: Any) -> bool:
        return self.count(BLOCK_STEP)

    def count_inline(self, *_: Any) -> bool:
        return self.count(1)

    def count(self, steps: int) -> bool:
        self.steps += steps
        if self.steps > MAX_STEPS:
            pieces = "links, emphasis, brackets, lines of lists and tables"
            raise build_refusal(f"{MAX_STEPS:,} pieces of Markdown ({pieces})")
        return False


def render_markdown(text: str, *, with_lines: bool = False) -> SafeString:
    """Return the text as sanitised HTML. Raises `Invalid` for a text whose rendering would take long.

    `with_lines` adds to each block the lines of the text that it comes from: `<p data-lines="4-6">` for 4 and 5.
    """
    renderer = MarkdownIt("commonmark", {"html": True, "maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    WorkLimit(renderer)
    renderer.add_render_rule("td_open", render_cell)
    renderer.add_render_rule("th_open", render_cell)
    tokens = renderer.parse(text)
    require_few_html_tags(tokens)
    if with_lines:
        add_lines(tokens)
    html = renderer.renderer.render(tokens, renderer.options, {})
    return mark_safe(SANITIZER.clean(html))  # noqa: S308 - this is the sanitiser


def add_lines(tokens: list[Any]) -> None:
    for token in tokens:
        if token.map and token.tag and token.nesting >= 0:
            token.attrSet("data-lines", f"{token.map[0]}-{token.map[1]}")


def require_few_html_tags(tokens: list[Any]) -> None:
    """Raise `Invalid` for a text with many HTML tags: the sanitiser's time grows with the square of their depth."""
    leaves = (leaf for token in tokens for leaf in (token, *(token.children or ())))
    tags = sum(leaf.content.count("<") for leaf in leaves if leaf.type in ("html_block", "html_inline"))
    if tags > MAX_HTML_TAGS:
        raise build_refusal(f"{MAX_HTML_TAGS:,} HTML tags")


def build_refusal(limit: str) -> Invalid:
    message = f"The text has more than {limit}. It is too complex for the preview, but it can be saved."
    return Invalid({"body": [message]})


def render_cell(renderer: Any, tokens: Any, index: int, options: Any, _: Any) -> str:
    """Render the start of a cell with `align`. The renderer writes a style, which the sanitiser removes."""
    token = tokens[index]
    style = token.attrs.pop("style", "")
    alignment = str(style).removeprefix("text-align:")
    if alignment in ALIGNMENTS:
        token.attrSet("align", alignment)
    return str(renderer.renderToken(tokens, index, options, {}))
