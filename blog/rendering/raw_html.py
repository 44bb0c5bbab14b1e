"""The HTML that a person has written in a Markdown text: no tag swallows the text after it.

comrak copies this HTML. A browser, and the sanitiser like it, would take the text after `<title>` or after an open
quote for a part of the element. So this HTML is separated from that of comrak, and each part is read alone.
"""

import re

OWN = "\0"  # replaces each `<` that comrak has written; comrak never writes NUL
SPACE = r"[\t\n\f\r ]"
CODE = {"iframe", "script", "style", "template"}  # What is between their tags is no text.
HIDING = {"details", "rp"}  # Without an end tag, they would hide the rest.
# What is between these tags, with or without an end tag, is text in its place. What is between others a browser would
# not show, or not as HTML, and the sanitiser removes it if the name is one of SVG or MathML, such as `<path>`.
ELEMENTS = (
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body "
    "br button canvas caption center cite code col colgroup data datalist dd del dfn dialog dir div dl dt em embed "
    "fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i image "
    "img input ins kbd keygen label legend li link listing main map mark marquee menu meta meter nav nobr ol optgroup "
    "option output p param picture pre progress q rb rt rtc ruby s samp search section slot small source span strike "
    "strong sub summary sup table tbody td tfoot th thead time tr track tt u ul var video wbr"
)
PLAIN = frozenset(ELEMENTS.split())
# A tag as a browser reads it, and in linear time: no part is read twice.
TAG = re.compile(
    rf"""<(/?)([a-zA-Z][^\t\n\f\r />\0]*+)
    (?:[\t\n\f\r /]++
      | [^\t\n\f\r />\0][^\t\n\f\r />=\0]*+
        (?:{SPACE}*+={SPACE}*+(?:"[^"\0]*+"|'[^'\0]*+'|[^\t\n\f\r "'>\0][^\t\n\f\r >\0]*+|(?=>))|(?!{SPACE}*+=))
    )*+>""",
    re.VERBOSE,
)
# What is no tag of another element with quoted attributes
SUSPICIOUS = re.compile(
    rf"""<(?!/?(?:{"|".join(sorted(PLAIN))})(?=[\t\n\f\r />])(?:[^<>="']|={SPACE}*+(?:"[^"<>]*"|'[^'<>]*')?)*+>)""",
    re.IGNORECASE,
)
# The start of a comment, a tag, or a tag without an end, which would swallow the rest; any other sign is text.
TOKEN = re.compile(rf"<!--|{TAG.pattern}|<(?:/?[a-zA-Z][^\0]*+)?", re.VERBOSE)
END = re.compile(r"</([a-zA-Z][^\t\n\f\r />\0]*+)(?=[\t\n\f\r />])")
# comrak copies what is between these, or to the end of the text: the start, what follows it, and the end
COPIED = [
    (re.compile(rf"<(?={start})", re.IGNORECASE), re.compile(end, re.IGNORECASE))
    for start, end in (
        (r"(?:pre|script|style|textarea)(?:[\s>]|\Z)", r"</(?:pre|script|style|textarea)\s*>"),
        ("!--", "-->"),
        (r"\?", r"\?>"),
        ("![a-z]", ">"),
        (r"!\[CDATA\[", "]]>"),
    )
]


def escape_unclosed_blocks(text: str, mark: str) -> str:
    """Return a Markdown text with a mark in each tag that would make HTML of all that follows, which makes it text."""
    for start, end in COPIED if "<" in text else ():
        closed = max((found.end() for found in end.finditer(text)), default=0)
        text = text[:closed] + start.sub(f"<{mark}", text[closed:])
    return text


def mark_own_tags(html: str, escaped: str) -> str:
    """Return the HTML of comrak with `OWN` for each `<` of its own.

    `escaped` is the same with the written HTML as text: `<p>&lt;b&gt;</p>` for `<p><b></p>`.
    """
    first, *parts = html.split("<")
    marked, position = [first], len(first)
    for part in parts:
        if escaped.startswith("<", position):
            marked.append(OWN + part)
            position += 1 + len(part)
            continue
        marked.append("<" + part)
        position += len("&lt;")
        tag, end, text = part.rpartition(">")
        whole = escape_written(part)
        position += len(whole if escaped.startswith(whole, position) else escape_written(tag + end) + text)
    return "".join(marked)


def escape_written(text: str) -> str:
    """Return the text as comrak escapes it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def clean_written_html(marked: str) -> str:
    """Return HTML without comments, in which every `<` starts a complete tag, and no tag swallows text.

    Tags of elements that are not plain are removed, with the code between them, if the text has their end. Others are
    text.
    """
    closed = {name.lower() for name in END.findall(marked)}
    return "<".join(clean_part(part, closed) if "<" in part else part for part in marked.split(OWN))


def clean_part(part: str, closed: set[str]) -> str:
    """Clean what is between two tags of comrak."""
    last_ends = {end[1].lower(): end.start() for end in END.finditer(part)} | {"!--": part.rfind("-->")}
    cleaned, position = [], 0
    while token := TOKEN.search(part, position):
        cleaned.append(part[position : token.start()])
        kept, position = clean_token(token, last_ends, closed)
        cleaned.append(kept)
    return "".join([*cleaned, part[position:]])


def clean_token(token: re.Match[str], last_ends: dict[str, int], closed: set[str]) -> tuple[str, int]:
    """Return what is kept of a token, and where the rest of its part begins."""
    written, after, is_end, name = token[0], token.end(), token[1], (token[2] or "").lower()
    if written == "<!--" and last_ends["!--"] >= token.start() + 2:  # the shortest comment is `<!-->`
        return "", token.string.index("-->", token.start() + 2) + 3
    if not name:
        return written.replace("<", "&lt;"), after
    if name in PLAIN or (name in HIDING and name in closed):
        return written, after
    is_complete = written.endswith("/>")
    if name in CODE and not is_end and not is_complete and last_ends.get(name, 0) >= after:
        return "", find_end(token.string, name, after)
    return ("" if is_complete or name in closed else written.replace("<", "&lt;")), after


def find_end(part: str, name: str, position: int) -> int:
    """Return where the next end tag of an element ends."""
    end = next(end for end in END.finditer(part, position) if end[1].lower() == name)
    return part.find(">", end.end()) + 1 or len(part)
