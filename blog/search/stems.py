"""Stems: the SQL that reduces words to what their grammatical forms have in common, by a dictionary of PostgreSQL."""

from contentapi.conf import conf
from contentapi.core.unicode import ACCENTS

ENGLISH_FOR_ASCII = ("hindi", "russian")  # languages in which PostgreSQL takes a word in Latin letters for English


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
