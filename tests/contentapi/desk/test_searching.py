"""The search boxes of the desk find text without differences of case and accents, on any locale."""

import pytest
from django.contrib import admin
from django.db import connection
from django.http import HttpRequest
from django.test import RequestFactory

from blog.models import Post
from contentapi.core.identity import Role
from contentapi.desk.lists import build_pattern
from tests.factories import make_user

EQUAL = [
    ("muller", "Jörg MÜLLER"),
    ("MÜLLER", "muller"),
    ("mu\u0308ller", "Müller"),
    ("Müller", "Mu\u0308ller"),
    ("istanbul", "İSTANBUL"),
    ("İstanbul", "\u0131stanbul"),
    ("strasse", "STRAẞE 5"),
    ("Straße", "strasse"),
    ("lodz", "Łódź"),
    ("σοφος", "ΣΟΦΌΣ"),
    ("ЁЖ", "ежи"),
    ("京都", "東京都"),
    ("你好\uff01世界", "你好\uff01世界"),
    ("\uff21\uff22", "\uff21\uff22株式会社"),
    ("Zoë… and", "Zoë… and friends"),
    ("ｶﾞ ½ № ❤️", "ｶﾞ ½ № ❤️ you"),
    ("می\u200cخو", "می\u200cخو"),
    ("a\u00a0b", "a\u00a0b"),
    ("a.b*c[d]\\e (100%)_", "A.B*C[D]\\E (100%)_"),
]


@pytest.mark.parametrize(("searched", "text"), EQUAL)
def test_text_is_found_without_case_and_accents_on_any_locale(searched: str, text: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute('SELECT %s COLLATE "C" ~ %s, %s ~ %s', [text, build_pattern(searched)] * 2)
        assert cursor.fetchone() == (True, True)


@pytest.mark.parametrize(
    ("searched", "text"),
    [("a.b", "aab"), ("muller", "miller"), ("s", "a"), ("100%", "1000"), ("\u200b", "a"), ("\u0301", "a")],
)
def test_other_text_is_not_found(searched: str, text: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s ~ %s", [text, build_pattern(searched)])
        assert cursor.fetchone() == (False,)


def test_every_search_box_folds_case_and_accents(rf: RequestFactory) -> None:
    request: HttpRequest = rf.get("/")
    request.user = make_user(Role.ADMIN)
    pages = {model: page for model, page in admin.site._registry.items() if page.search_fields and model is not Post}

    texts = [str(page.get_search_results(request, page.get_queryset(request), "ä")[0].query) for page in pages.values()]

    assert len(texts) >= 9
    assert [text for text in texts if " LIKE " in text or " ~ " not in text] == []
