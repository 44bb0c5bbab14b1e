"""Renders Markdown as HTML that is safe to show.

comrak renders GitHub's Markdown: CommonMark with tables, strikethrough, task lists, bare addresses, and footnotes. It
keeps the HTML in the text, because imported posts contain some. nh3 then removes every element, attribute and address
that is not in the lists below. So the lists decide what is safe, not the renderer.
"""

import html as entities
import logging
import re
from functools import partial
from typing import TypeVar
from urllib.parse import quote

import comrak
import nh3
from comrak import ExtensionOptions, ParseOptions, RenderOptions
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from blog.rendering import images
from blog.rendering.anchors import PREFIX, connect_places
from blog.rendering.footnotes import escape_unused_definitions, has_unused_definitions, separate_references
from blog.rendering.limits import has_many_mail_addresses, has_too_many_cells, is_heavy
from blog.rendering.raw_html import OWN, SUSPICIOUS, clean_written_html, escape_unclosed_blocks, mark_own_tags
from blog.rendering.tables import escape_excess_cells

Options = TypeVar("Options", ExtensionOptions, ParseOptions, RenderOptions)
LOG = logging.getLogger("contentapi.rendering")
MAX_HTML = 4_000_000  # characters: quotes or footnotes can be many times as long as their text

ELEMENTS = (
    "a abbr b bdi bdo blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption "
    "figure h1 h2 h3 h4 h5 h6 hr i img input ins kbd li mark ol p pre q rp rt ruby s samp section small span strike "
    "strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr"
)
# No `id` but those of footnotes and with our prefix: a page could take such an element for a variable. The `name` of a
# link becomes an `id`. No `class` but those of footnotes and of languages, and no `style`: they could cover the page
# around the text. No `cite`: nh3 compares the schemes of `href` and `src` only.
ATTRIBUTES = {
    "*": {"dir", "id", "lang", "title"},
    "a": {"aria-label", "href", "name"},
    "bdo": {"dir"},
    "code": {"class"},
    "col": {"span"},
    "colgroup": {"span"},
    "del": {"datetime"},
    "details": {"open"},
    "img": {"alt", "height", "src", "width"},
    "input": {"aria-label", "checked", "disabled", "type"},
    "ins": {"datetime"},
    "ol": {"reversed", "start"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan", "scope"},
    "time": {"datetime"},
}
CLASSES = {"a": {"footnote-backref"}, "section": {"footnotes"}, "sup": {"footnote-ref"}}
DISABLED = {"disabled": ""}  # one attribute: nh3 adds several in another order in each process
BLOCKS = ("blockquote", "dl", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "table", "tr", "ul")
SCHEMES = {"http", "https", "mailto", "tel", images.SCHEME}
PRIVATE = [chr(code) for code in range(0xE000, 0xE100)]  # characters without a meaning
HAS_HOST = re.compile(r"(?:https?:)?//", re.IGNORECASE)
LANGUAGE = re.compile(r"language-[\w.+#-]+")
ID = re.compile(rf"(?:fn-|fnref-|{PREFIX})[^\s\"'<>]+")
# The start of a task as comrak writes it: `<li><input type="checkbox" checked="" disabled="" />`
TASK = re.compile(r'<li(?: data-sourcepos="[^"]*")?><input type="checkbox"(?: (checked)="")?(?= disabled="" />)')
# The language in what follows the fence of code: `{.python .numberLines}`, `rust,ignore`, `js:title="a.js"`, `js=12`
CODE = re.compile(rf'({OWN}code)(?=[^>]* class="language-)((?: (?:class|data-meta)="[^"]*")+)')
LANGUAGE_NAME = re.compile(
    r"(?:\{code[\w-]*\} )?[{\s.=]*(?:lang(?:uage)?-)?(\w[\w+#-]*+(?:\.\w[\w+#-]*+)*+)(?!=[^\d\s])"
)
LANGUAGE_CLASS = re.compile(r"\s\.(\w[\w.+#-]*)")


def filter_attribute(element: str, name: str, value: str) -> str | None:
    """Leave out values that are not what a renderer writes, and the address of an image that is neither one of ours nor
    has a host: relative to a page of the admin, it is another file.
    """
    if name == "type":
        return "checkbox"  # of a task list: an input of a post is nothing else
    if name in ("src", "href") and images.OURS.match(value.lstrip()):  # also without a valid id
        return images.SCHEME + value.strip()[len(images.SCHEME) :]
    if name == "src":
        return value if HAS_HOST.match(value.strip()) else None
    if name == "class" and element == "code":
        return value if LANGUAGE.fullmatch(value) else None
    if name in ("id", "name"):
        candidates = value, f"{PREFIX}{value}"
        return next(filter(ID.fullmatch, candidates), None)
    return value


def build_sanitizer(*, with_lines: bool) -> nh3.Cleaner:
    lines = {block: ATTRIBUTES.get(block, set()) | {"data-sourcepos"} for block in BLOCKS} if with_lines else {}
    return nh3.Cleaner(
        tags=set(ELEMENTS.split()),
        attributes=ATTRIBUTES | lines,
        attribute_filter=filter_attribute,
        allowed_classes=CLASSES,
        set_tag_attribute_values={"input": DISABLED},
        url_schemes=SCHEMES,
        clean_content_tags=set(),
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


def set_options(options: Options, **values: bool) -> Options:
    """Return options of comrak, whose classes take no arguments, with these values."""
    for name, value in values.items():
        setattr(options, name, value)
    return options


SYNTAX = dict.fromkeys(("footnotes", "strikethrough", "table", "tasklist", "cjk_friendly_emphasis"), True)
WRITTEN = {"unsafe_": True, "full_info_string": True}  # also what is not safe: the sanitiser decides
PARSING, PARSING_ALL = ParseOptions(), set_options(ParseOptions(), leave_footnote_definitions=True)
EXTENSIONS = {found: set_options(ExtensionOptions(), **SYNTAX, autolink=found) for found in (False, True)}
OUTPUTS = {lines: set_options(RenderOptions(), **WRITTEN, sourcepos=lines) for lines in (False, True)}
ESCAPED = {lines: set_options(RenderOptions(), **WRITTEN, sourcepos=lines, escape=True) for lines in (False, True)}
SANITIZERS = {with_lines: build_sanitizer(with_lines=with_lines) for with_lines in (False, True)}


def render_markdown(
    text: str, *, with_lines: bool = False, find_images: images.FindImages = images.find_no_images
) -> SafeString:
    """Return the text as sanitised HTML with the images that `find_images` finds; as preformatted text if its rendering
    would take long.

    `with_lines` adds to each block the place in the text that it comes from: `<p data-sourcepos="5:1-6:12">` for the
    lines 5 and 6.
    """
    return insert_images(sanitize_markdown(text, with_lines=with_lines), find_images)[0]


def sanitize_markdown(text: str, *, with_lines: bool = False) -> str:
    """Return the text as sanitised HTML, in which our images have addresses like `image:7`."""
    html = render_unsafe(text, with_lines=with_lines)
    if html is None or len(html) > MAX_HTML or is_heavy(html):
        html = f"<pre>{escape(text)}</pre>"
    return connect_places(SANITIZERS[with_lines].clean(html))


def insert_images(sanitized: str, find_images: images.FindImages) -> tuple[SafeString, list[images.UsedImage]]:
    """Return sanitised HTML with its images, without any if it would become too long; and all images that it uses."""
    used = images.list_used_images(sanitized)[: images.MOST]
    shown = images.show_images(sanitized, find_images([image.id for image in used]) if used else {})
    html = mark_safe(shown if len(shown) <= MAX_HTML else images.show_images(sanitized, {}))  # noqa: S308 - see `show_images`
    return html, used


def render_unsafe(text: str, *, with_lines: bool) -> str | None:
    """Return HTML with all text, which is not safe yet; None if comrak cannot render it.

    No text is known for which comrak panics. It is shown as it is, so that the post can be saved and published.
    """
    if has_too_many_cells(text):
        return None
    try:
        marked = render_all_text(text, with_lines=with_lines)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # which no module exports, and which is no Exception
            raise
        LOG.exception("comrak cannot render a text of %s characters.", len(text))
        return None
    html = clean_written_html(CODE.sub(name_language, marked))
    return TASK.sub(name_checkbox, html)


def render_all_text(text: str, *, with_lines: bool) -> str:
    """Return the HTML of comrak with all that it would leave out, or copy without need. Its own tags are marked."""
    mark = next((each for each in PRIVATE if each not in text), "")
    text = escape_excess_cells(escape_unclosed_blocks(text, mark), mark)
    marked = render_marked(text, with_lines=with_lines)
    if "[^" in text and has_unused_definitions(text, marked):
        render_all = partial(render_marked, with_lines=with_lines, parsing=PARSING_ALL)
        marked = render_marked(escape_unused_definitions(text, marked, mark, render_all), with_lines=with_lines)
    return re.sub(rf"{mark}\\?|{quote(mark)}" if mark else "(?!)", "", separate_references(marked))


def render_marked(text: str, *, with_lines: bool, parsing: ParseOptions = PARSING) -> str:
    """Return the HTML of comrak, in which its own tags are marked."""
    extensions = EXTENSIONS[not has_many_mail_addresses(text)]
    html = comrak.render_markdown(text, extensions, parsing, OUTPUTS[with_lines])
    if not SUSPICIOUS.search(html):
        return html.replace("<", OWN)
    return mark_own_tags(html, comrak.render_markdown(text, extensions, parsing, ESCAPED[with_lines]))


def name_language(found: re.Match[str]) -> str:
    """Return the start of code with its language, if what follows the fence names one."""
    attributes = dict(images.ATTRIBUTE.findall(found[2]))  # in another order in each process
    info = entities.unescape(
        f"{attributes.get('class', '').removeprefix('language-')} {attributes.get('data-meta', '')}"
    )
    named = LANGUAGE_NAME.match(info) or LANGUAGE_CLASS.search(info)
    return f'{found[1]} class="language-{named[1]}"' if named else found[1]


def name_checkbox(found: re.Match[str]) -> str:
    """Return the start of a task. Its checkbox has a name for screen readers: the text beside it is no label."""
    state = "Completed" if found[1] else "Incomplete"
    return f'{found[0]} aria-label="{state} task"'
