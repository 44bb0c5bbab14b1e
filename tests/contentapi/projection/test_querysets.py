"""`Rows`: a projection and Django read the same rows, and statements are shared by cache key."""

from dataclasses import replace
from typing import Any

import pytest
from django.db.models import Q, QuerySet

from blog import policy
from blog.models import Author
from contentapi.core.identity import ANONYMOUS, Actor, Role
from contentapi.core.pagination import Position
from contentapi.projection import Rows, parametrised
from contentapi.projection.statements import STATEMENTS
from tests.contentapi.projection.execution import run
from tests.contentapi.projection.test_rows import names, schema
from tests.factories import make_actor, make_author

pytestmark = pytest.mark.django_db


@parametrised(Author)
def named(_: Actor, *, least: str | None = None, but: str | None = None) -> QuerySet[Author]:
    rows = Author.objects.order_by("-name")
    rows = rows if least is None else rows.filter(name__gte=least)
    return rows if but is None else rows.exclude(Q(name=but) | Q(bio=but))


@parametrised(Author, least=str.upper)
def after(_: Actor, *, least: str, after: str | None = None, after_pk: int | None = None) -> QuerySet[Author]:
    rows = Author.objects.filter(name__gte=least).order_by("name")
    return rows if after is None else rows.filter(name__gt=after).exclude(pk=after_pk or 0)


@parametrised(Author)
def own(actor: Actor) -> QuerySet[Author]:
    return Author.objects.filter(policy.visible_author_emails(actor))


def names_by_django(rows: Rows[Author]) -> list[str]:
    return [author.name for author in rows.queryset()]


@pytest.fixture(autouse=True)
def authors(db: None) -> None:  # noqa: ARG001
    STATEMENTS.clear()
    for name in "ABCDE":
        make_author(name=name)


WINDOWS = [slice(None), slice(2), slice(0, 2), slice(1, 3), slice(1, None), slice(9, None), slice(0, 0)]


@pytest.mark.parametrize(
    ("arguments", "all_of_them"),
    [({}, "EDCBA"), ({"least": "B"}, "EDCB"), ({"but": "B"}, "EDCA"), ({"but": "D", "least": "C"}, "EC")],
)
def test_projection_and_django_return_the_same_slice(arguments: dict[str, Any], all_of_them: str) -> None:
    for window in WINDOWS:
        projected = [names(named(ANONYMOUS, **arguments)[window]) for _ in range(2)]

        assert projected == [list(all_of_them[window])] * 2, window
        assert names_by_django(named(ANONYMOUS, **arguments)[window]) == projected[0], window


@pytest.mark.parametrize("window", [slice(3, 2), slice(None, None, 2), slice(-2, None), slice(None, -1)], ids=str)
def test_slice_that_is_no_limit_and_offset_is_refused(window: slice) -> None:
    with pytest.raises(ValueError, match="Slice rows once"):
        named(ANONYMOUS)[window]


def test_slice_of_a_slice_is_refused() -> None:
    with pytest.raises(ValueError, match="Slice rows once"):
        named(ANONYMOUS)[1:4][1:]


def test_rows_are_not_iterable() -> None:
    with pytest.raises(TypeError, match="not iterable"):
        list(named(ANONYMOUS))  # type: ignore[call-overload]


def test_queryset_of_rows_has_all_methods() -> None:
    rows = named(ANONYMOUS, least="B")

    assert rows.exists()
    assert rows.count() == len(rows.queryset()) == 4
    assert [author.name for author in rows.queryset().filter(name__lt="D").reverse()] == ["B", "C"]
    assert names(rows.queryset().filter(name__lt="D")) == ["C", "B"]


def test_arguments_by_position_are_parsed_and_a_position_is_its_value_and_id() -> None:
    last = Author.objects.get(name="E")

    assert names(after(ANONYMOUS, "c")) == ["C", "D", "E"]
    assert names(after(ANONYMOUS, "c", Position(last.pk, "C"))) == ["D"]
    assert names(after(ANONYMOUS, least="c", after=None)) == ["C", "D", "E"]


def test_actors_who_share_a_statement_read_their_own_rows() -> None:
    actors = [make_actor(Role.AUTHOR, author=make_author(name=name)) for name in ("Mine", "Yours")]

    found = [run("{ authors { name } }", schema=schema(authors=own(actor)), actor=actor).data for actor in actors]

    assert found == [{"authors": [{"name": "Mine"}]}, {"authors": [{"name": "Yours"}]}]
    assert len(STATEMENTS.items) == 1
    assert names(own(ANONYMOUS)) == []


def test_actors_with_other_kinds_of_credential_share_no_statement() -> None:
    keyed = replace(ANONYMOUS, credential="session")

    assert own(ANONYMOUS).cache_key != own(keyed).cache_key
