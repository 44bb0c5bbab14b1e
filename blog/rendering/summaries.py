"""The default texts of a post for lists and search engines, made of its rendered text."""

import html
import re
import unicodedata

MOST_OF_EXCERPT = 200  # characters
MOST_OF_DESCRIPTION = 160
ATTRIBUTES = r"""(?:[^>"]|"[^"]*")*"""
# What is not prose: headings, code, tables, and footnotes
OTHERS = re.compile(
    rf'<(h[1-6]|pre|table|section(?= class="footnotes")|figcaption|summary)\b{ATTRIBUTES}>.*?</\1>', re.DOTALL
)
MARKS = re.compile(r'<sup class="footnote-ref">.*?</sup>', re.DOTALL)
INLINE = re.compile(
    rf"</?(?:a|abbr|b|bdi|bdo|cite|code|del|dfn|em|i|img|input|ins|kbd|mark|q|ruby|s|samp|small|span|strike|strong|sub"
    rf"|sup|time|tt|u|var|wbr)\b{ATTRIBUTES}>"
)
TAG = re.compile(rf"</?[a-z]{ATTRIBUTES}>")
SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*(?= |$)|[。！？][”’」』）]*")  # noqa: RUF001
JOINER = "\u200d"


def make_excerpt(body_html: str) -> str:
    """Return the first sentences of a text that `render_markdown` has returned, at most 200 characters.

    If the first sentence is longer, it is cut at a word. A text without prose gives its headings and code.
    """
    text = extract_text(OTHERS.sub(" ", body_html)) or extract_text(body_html)
    if len(text) <= MOST_OF_EXCERPT:
        return text
    ends = [match.end() for match in SENTENCE_END.finditer(text, 0, MOST_OF_EXCERPT + 1)]
    ends = [end for end in ends if end <= MOST_OF_EXCERPT]
    return text[: ends[-1]] if ends else cut_at_word(text, MOST_OF_EXCERPT)


def make_description(excerpt: str) -> str:
    """Return the beginning of an excerpt, at most 160 characters, cut at a word."""
    return cut_at_word(" ".join(excerpt.split()), MOST_OF_DESCRIPTION)


def extract_text(sanitized: str) -> str:
    """Return the text of sanitised HTML in one line, without the marks of footnotes."""
    return " ".join(html.unescape(TAG.sub(" ", INLINE.sub("", MARKS.sub("", sanitized)))).split())


def cut_at_word(text: str, most: int) -> str:
    """Return the beginning of a text, with at most this number of characters, and no part of a word if possible."""
    if len(text) <= most:
        return text
    start = text[: most + 1].rpartition(" ")[0].rstrip()
    if start:
        return start
    end = most
    while end > 1 and (unicodedata.combining(text[end]) or JOINER in text[end - 1 : end + 1]):
        end -= 1
    return text[:end]
