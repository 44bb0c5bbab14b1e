"""The lookup `folded` of the search boxes: a text contains another one, without differences of case and accents.

The pattern names all letters that are equal, so that the locale of the database has no part in it.
"""

import re
import unicodedata
from functools import cache
from typing import Any

from django.db.models import CharField, TextField
from django.db.models.lookups import BuiltinLookup

from contentapi.core.unicode import ACCENTS, fold_accents, remove_invisible

LETTERS = range(0x80, 0x2C00)  # the scripts that have case or accents
MOST_LETTERS = 100  # of a search


@CharField.register_lookup
@TextField.register_lookup
class Folded(BuiltinLookup):
    lookup_name = "folded"

    def get_prep_lookup(self) -> str:
        return build_pattern(str(self.rhs))

    def get_rhs_op(self, connection: Any, rhs: str) -> str:
        return f"~ {rhs}"


def fold(text: str) -> str:
    return fold_accents(unicodedata.normalize("NFKC", remove_invisible(text)).casefold())


@cache
def list_variants() -> dict[str, str]:
    """Return the characters beyond ASCII that are equal to one letter or to several: `ß` and `ẞ` for `ss`."""
    variants: dict[str, str] = {}
    for char in map(chr, LETTERS):
        if char.isalpha() and (folded := fold(char)):
            variants[folded] = variants.get(folded, "") + char
    return variants


def build_pattern(text: str) -> str:
    """Return a regular expression of PostgreSQL: `(?:[sSśŝ…][\\u0300…]*[sSśŝ…][\\u0300…]*|[ßẞ])` for `ss`.

    It matches the text as it is written too: folding it may change characters that the stored text has.
    """
    pairs = "|".join(letters for letters in list_variants() if len(letters) == 2 and letters.isalpha())
    folded = "".join(map(match_letters, re.findall(f"{pairs}|.", fold(text)[:MOST_LETTERS], re.DOTALL)))
    return "|".join(filter(None, (folded, re.escape(text[:MOST_LETTERS]))))


def match_letters(letters: str) -> str:
    """Return the pattern for a letter, or for two of which one character can be a form."""
    variants = list_variants().get(letters, "")
    if len(letters) == 2:
        return f"(?:{''.join(map(match_letters, letters))}|[{variants}])"
    if not letters.isalnum():
        return re.escape(letters)
    return f"[{letters}{letters.upper() if letters.isascii() else ''}{variants}]{ACCENTS}*"
