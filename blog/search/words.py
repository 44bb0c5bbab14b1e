"""The words of a text, as search compares them, and the SQL of their stems. The locale has no part in either.

Every character that is no letter, mark or number separates words, and those that nobody sees separate none. Text of
scripts without spaces between words has a word for each two neighbouring characters.
"""

import re
import unicodedata

from contentapi.conf import conf
from contentapi.core.unicode import ACCENTS, LONGEST_WORD, fold_accents, remove_invisible

ENGLISH_FOR_ASCII = ("hindi", "russian")  # languages in which PostgreSQL takes a word in Latin letters for English
PLAIN = re.compile("[a-z0-9]+")
# Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u19e0-\u19ff\u3005-\u3007\u3021-\u302f\u3031-\u303c"
    "\u3040-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7ff"
    "\uf900-\ufaff\U00016fe0-\U00018dff\U0001aff0-\U0001b2ff\U00020000-\U0003ffff"
)
RUNS = re.compile(f"([{UNSPACED}]+)|[^{UNSPACED}]+")


class Separators(dict[int, str]):
    """A table for `str.translate`, which replaces each separator of words by a space. Look-ups are cached."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        found = char if unicodedata.category(char)[0] in "LMN" else " "
        if len(self) < 10_000:
            self[code] = found
        return found


SEPARATORS = Separators()


def split_words(text: str, *, of_search: bool = False) -> list[str]:
    """Return the words of a text in their order, without differences of case and compatibility, with their accents.

    Of a script without spaces, each character begins a word of two, and the last one is a word alone; not `of_search`.
    """
    if text.isascii():
        return [word[:LONGEST_WORD] for word in PLAIN.findall(text.lower())]  # as below, but faster
    words: list[str] = []
    for part in split_parts(text):
        for run in RUNS.finditer(part):
            if chars := run[1]:
                pairs = [chars[place : place + 2] for place in range(len(chars))]
                is_last_kept = not of_search or len(pairs) == 1
                words += pairs if is_last_kept else pairs[:-1]
            elif fold_accents(run[0]):
                words.append(run[0][:LONGEST_WORD])
    return words


def split_parts(text: str) -> list[str]:
    """Return what is between the separators, in a normal form of Unicode."""
    text = unicodedata.normalize("NFKC", remove_invisible(text).translate(SEPARATORS)).casefold()
    return unicodedata.normalize("NFKC", text).translate(SEPARATORS).split()


def is_unspaced(word: str) -> bool:
    """Whether a word is of a script without spaces."""
    run = RUNS.match(word)
    return run is not None and run[1] is not None


def build_stems() -> str:
    """Return SQL for the stems of a column `word` without accents: an array, which is empty for a word like `the`."""
    language = conf.environment.contentapi_search_language
    return f"""ARRAY(
      SELECT CASE WHEN octet_length(stem) = length(stem) THEN stem
        ELSE normalize(regexp_replace(normalize(stem, NFD), '{ACCENTS}', '', 'g'), NFC) END
      FROM unnest(ts_lexize({build_dictionary(language)}, word)) AS stem)"""  # noqa: S608 - constants


def build_dictionary(language: str) -> str:
    """Return SQL for the dictionary of the column `word`, as the configuration of this name chooses it."""
    if language in ENGLISH_FOR_ASCII:
        return f"(CASE WHEN word ~ '^[a-z0-9]*$' THEN 'english_stem' ELSE '{language}_stem' END)::regdictionary"
    return "'simple'" if language == "simple" else f"'{language}_stem'"
