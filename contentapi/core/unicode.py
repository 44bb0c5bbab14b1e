"""Which text can be stored, what nobody sees, and letters without accents. A child process without Django uses it."""

import re
import unicodedata
from functools import lru_cache

from anyascii import anyascii

# Default_Ignorable_Code_Point of Unicode: soft hyphen, zero-width spaces and joiners, variation selectors and others
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
LONGEST_WORD = 500  # characters; PostgreSQL stores words of at most 2,046 bytes
# The accents of Latin, Greek and Cyrillic letters, and the vowel points of Hebrew and Arabic. Also in SQL
ACCENTS = (
    r"[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u06d6-\u06dc"
    r"\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
FIND_ACCENTS = re.compile(ACCENTS)


def is_storable(text: str) -> bool:
    """Whether a text has neither NUL, which PostgreSQL does not support, nor lone surrogates."""
    try:
        text.encode()  # a lone surrogate has no encoding
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def remove_invisible(text: str) -> str:
    """Return a text without the characters that nobody sees: they separate no words."""
    return text if text.isascii() else INVISIBLE.sub("", text)


def fold_accents(word: str) -> str:
    """Return a word without accents: `cafe` for `café`, `lodz` for `łódź`. It may be empty."""
    if word.isascii():
        return word
    bare = unicodedata.normalize("NFC", FIND_ACCENTS.sub("", unicodedata.normalize("NFD", word)))
    return "".join(map(fold_letter, bare))[:LONGEST_WORD]


@lru_cache(4096)
def fold_letter(char: str) -> str:
    """Return the letters from a to z for a Latin letter that is not one of them."""
    is_other = not char.isascii() and unicodedata.name(char, "").startswith("LATIN ")
    return (anyascii(char).lower() or char) if is_other else char
