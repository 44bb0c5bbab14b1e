"""The words of search: every word that a person can see finds the post, on a database with any locale."""

import unicodedata
from collections.abc import Iterator
from typing import Any, get_args

import psycopg
import pytest
from django.conf import settings as django_settings
from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import TextField, Value
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blog.models import MAX_TITLE, Post
from blog.rendering import extract_visible_text
from blog.search.indexing import build_document, read_stems, read_words
from blog.search.query import MAX_SEARCH, TermsQuery, parse_search
from blog.search.words import ENGLISH_FOR_ASCII, split_words
from contentapi.conf.environment import Language
from contentapi.core.unicode import INVISIBLE, fold_accents, remove_invisible
from contentapi.db import statements
from contentapi.db.statements import fetch_rows
from tests.blog.search_posts import find, index_posts
from tests.factories import make_post
from tests.thoroughness import scale_examples

REAL = django_settings.BASE_DIR.parent / "shared" / "content"
CONTROLS = [*"\t\n\v\f\r\x1c\x85\u2028\u2029"]
LETTERS = st.characters(categories=["L", "M", "N"])
WORDS = st.text(LETTERS, min_size=1, max_size=12).filter(lambda word: split_words(word) != [])
VISIBLE_SEPARATORS = st.characters(categories=["P", "Z"]).filter(lambda char: not INVISIBLE.match(char))
SEPARATOR = st.text(st.one_of(VISIBLE_SEPARATORS, st.sampled_from(CONTROLS)), min_size=1, max_size=3)
NAMES = {1: "Ines Falk"}


VISIBLE = [  # a body, and what finds it
    *[(f"A {word} boat.", word) for word in ("hand-made", "all-weather", "e-ink", "to-do", "x-ray", "3.14", "C.I.A.")],
    ("A hand-made boat.", "made"),
    ("A hand-made boat.", "hand-mad"),
    ("A hand-made boat.", "hand\u2010made"),
    ("A hand-made boat.", '"hand made"'),
    ("Sie rief „Leinen los“!", "leinen"),
    ("and‽tide", "tide"),
    ("mast\u2003sail\u202fkeel", "sail"),
    ("\uff02\uff4d\uff41\uff53\uff54\uff02", "mast"),
    ("¿Dónde está?", "donde"),
    ("Zołądź", "zoladz"),
    ("zoladz", "Zołądź"),
    ("e\u0301cole", "ÉCOLE"),
    ("Bjørnsøya", "bjornsoya"),
    ("ΘΆΛΑΣΣΑΣ", "θαλασσας"),
    ("θάλασσα", "ΘΑΛΑΣΣΑ"),
    ("STRAßE", "strasse"),
    ("İSTANBUL", "istanbul"),
    ("ﬂood", "flood"),
    ("東京港の灯台", "京港"),
    ("東京港の灯台", "台"),
    ("東京港の灯台", "港の灯"),
    ("ﾃｽﾄ", "テス"),
    ("부산항에서", "산항"),
    ("ท่าเรือกรุงเทพ", "เรือ"),
    ("नमस्ते दुनिया", "नमस्ते"),
    ("كِتَابٌ", "كتاب"),
    ("Hafen\u00adkran\u200bkabel", "hafenkrankabel"),
    ("Hafenkran", "hafen\u2060kran\ufeff"),
    ("light**house**keeper", "lighthousekeeper"),
    ("light**house**keeper", "keeper"),
    ("CO<sub>2</sub>", "co2"),
    ("na&iuml;ve", "naïve"),
    ("[chart](https://example.com/quayside)", "quayside"),
    ("Many harbours[^1].\n\n[^1]: Note.", "harbour"),
]
HIDDEN = [  # a body, and what does not find it
    ("東京港の灯台", "東台"),
    ("東京港の灯台", '"東京の灯台"'),
    ("一 boat made by hand", '"hand-made"'),
    ("to and do", "to"),
    ("mast\u0301", "\u0301"),
    ("mast", "\u00ad"),
]


@pytest.mark.thorough
def test_words_that_a_person_can_see_find_their_post_and_others_do_not() -> None:
    cases = [*VISIBLE, *HIDDEN]
    titles = ["q" * number for number in range(1, len(cases) + 1)]
    for title, (body, _) in zip(titles, cases, strict=True):
        make_post(title=title, body=body)
    index_posts()

    found = [case for title, case in zip(titles, cases, strict=True) if title in find(case[1])]

    assert found == VISIBLE


def test_phrase_counts_words_without_a_stem() -> None:
    post = make_post(title="Other", body="The café of the déjà vu, and déjà vu.")
    index_posts()
    assert find('"cafe of the deja vu"') == [post.title]
    assert find('"cafe of deja vu"') == []


class Missing:
    """Finds the words of a post that its document lacks, in one database."""

    def __init__(self, cursor: Any) -> None:
        self.cursor = cursor

    def list_missing(self, post: Post, words: set[str]) -> list[str]:
        """Return the words that do not find the post, without those that have no stem, such as `the`."""
        fields = read_words(post, NAMES)
        stems = read_stems({word for found in fields.values() for word in found} | set(map(take_only, words)))
        document = build_document(fields, post.tags, stems)
        searched = sorted(word for word in words if stems[take_only(word)])
        if self.matches(document, [term for word in searched for term in parse_search(word)]):
            return []
        return [word for word in searched if not self.matches(document, parse_search(word))]

    def matches(self, document: str, terms: list[str]) -> bool:
        query = TermsQuery(Value(terms, output_field=ArrayField(TextField())))
        sql, values = query.as_sql(Post.objects.all().query.get_compiler("default"), connection)
        self.cursor.execute(f"SELECT %s::tsvector @@ {sql}", [document, *values])
        return bool(self.cursor.fetchone()[0])


def take_only(word: str) -> str:
    """Return the word of which a text consists; an empty one, which has a stem, for a text of several."""
    words = split_words(word)
    return words[0] if len(words) == 1 else ""


@pytest.fixture
def missing() -> Iterator[Missing]:
    with connection.cursor() as cursor:
        yield Missing(cursor)


@pytest.fixture(params=["LOCALE_PROVIDER libc LC_CTYPE 'C'", "LOCALE_PROVIDER libc LC_CTYPE 'C.UTF-8'"])
def missing_on_another_locale(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Missing]:
    """Return `Missing` for an empty database with another locale."""
    name = f"{connection.settings_dict['NAME']}_locale"
    target = connection.get_connection_params()
    parameters = {key: target[key] for key in ("host", "port", "user", "password") if target.get(key)}
    with psycopg.connect(dbname="postgres", autocommit=True, **parameters) as server:
        server.execute(f"DROP DATABASE IF EXISTS {name}")
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' {request.param}")
        try:
            with psycopg.connect(dbname=name, **parameters) as opened, opened.cursor() as cursor:
                monkeypatch.setattr(statements, "connection", opened)
                yield Missing(cursor)
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


TEXTS = st.tuples(st.lists(st.tuples(WORDS, SEPARATOR), max_size=8), st.lists(st.tuples(WORDS, SEPARATOR), max_size=40))


def check_texts(missing: Missing, texts: Any) -> None:
    title, body = texts
    post = Post(title="".join(word + separator for word, separator in title)[:MAX_TITLE], author_id=1)
    post.body = "".join(word + separator for word, separator in body)
    title_words = {word for word, _ in title} if len(post.title) < MAX_TITLE else set()
    assert missing.list_missing(post, title_words | {word for word, _ in body} | list_visible_words(post.body)) == []


def list_visible_words(body: str) -> set[str]:
    """Return the words that a person sees: what is between the characters that are no letter, mark or number."""
    shown = remove_invisible(extract_visible_text(body))
    spaced = "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in shown)
    return {word for word in spaced.split() if len(word) <= MAX_SEARCH and split_words(word)}


PROPERTY = settings(
    max_examples=scale_examples(2_000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.property
@PROPERTY
@given(texts=TEXTS)
def test_every_word_between_separators_finds_the_post(missing: Missing, texts: Any) -> None:
    check_texts(missing, texts)


@pytest.mark.thorough
@pytest.mark.property
@PROPERTY
@given(texts=TEXTS)
def test_every_word_finds_the_post_on_other_locales(missing_on_another_locale: Missing, texts: Any) -> None:
    check_texts(missing_on_another_locale, texts)


@pytest.mark.thorough
def test_each_separator_of_unicode_separates_words_and_no_invisible_character() -> None:
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    invisible = [char for char in every if INVISIBLE.match(char)]
    separators = {char for char in every if unicodedata.category(char)[0] in "PZ"} - set(invisible)

    assert len(invisible) > 4000
    assert [char for char in invisible if split_words(f"x{char}y") != ["xy"]] == []
    assert [char for char in (*separators, *CONTROLS) if split_words(f"x{char}y") != ["x", "y"]] == []


@pytest.mark.skipif(not REAL.is_dir(), reason="The content of real sites is not beside this checkout.")
@pytest.mark.thorough
def test_every_visible_word_of_real_posts_finds_its_post(missing: Missing) -> None:
    words = 0
    for path in sorted(REAL.rglob("*.md")):
        post = Post(title=path.stem, body=path.read_text(errors="replace").replace("\0", ""), author_id=1)
        visible = list_visible_words(post.body) | set(remove_invisible(path.stem).split())
        assert missing.list_missing(post, visible) == [], path
        words += len(visible)
    assert words > 10_000


def test_accents_are_folded_and_letters_kept() -> None:
    for word, folded in [("łódź", "lodz"), ("æon", "aeon"), ("ёж", "еж"), ("が", "が"), ("한", "한"), ("kelp", "kelp")]:
        assert fold_accents(word) == folded


def test_dictionaries_are_those_of_the_configurations() -> None:
    """The first dictionary of an ASCII word (1) and of another word (2) in each configuration."""
    languages = [*get_args(get_args(Language)[0])]
    found = {
        (language, kind): name
        for language, kind, name in fetch_rows(
            "SELECT cfgname, maptokentype, dictname FROM pg_ts_config_map JOIN pg_ts_config c ON c.oid = mapcfg"
            " JOIN pg_ts_dict d ON d.oid = mapdict WHERE maptokentype IN (1, 2) AND cfgname = ANY(%s)",
            [languages],
        )
    }
    for language in languages:
        own = "simple" if language == "simple" else f"{language}_stem"
        assert found[language, 2] == own
        assert found[language, 1] == ("english_stem" if language in ENGLISH_FOR_ASCII else own)
