"""Rows that are known by their shape: the same rows as Django's own, whichever way they are used."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from django.db.models import Q, QuerySet

from blog.models import Author, Post
from contentapi.core import policy
from contentapi.core.identity import ANONYMOUS, Actor, Role
from contentapi.projection.querysets import parametrised
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


@parametrised(Author)
def own(actor: Actor) -> QuerySet[Author]:
    return Author.objects.filter(policy.visible_author_emails(actor))


@pytest.fixture(autouse=True)
def authors(db: None) -> None:  # noqa: ARG001
    STATEMENTS.clear()
    for name in "ABCDE":
        make_author(name=name)


@pytest.mark.parametrize(
    ("arguments", "all_of_them"),
    [({}, "EDCBA"), ({"least": "B"}, "EDCB"), ({"but": "B"}, "EDCA"), ({"but": "D", "least": "C"}, "EC")],
)
@pytest.mark.parametrize(
    "window", [slice(None), slice(2), slice(0, 2), slice(1, 3), slice(1, None), slice(9, None), slice(0, 0)], ids=str
)
def test_a_slice_is_the_same_by_projection_and_by_django(
    arguments: dict[str, Any], all_of_them: str, window: slice
) -> None:
    wanted = list(all_of_them[window])

    projected = [names(named(ANONYMOUS, **arguments)[window]) for _ in range(2)]

    assert projected == [wanted, wanted]
    assert [author.name for author in named(ANONYMOUS, **arguments)[window]] == wanted


def test_a_slice_of_a_slice_is_the_same_by_projection_and_by_django() -> None:
    assert names(named(ANONYMOUS)[1:4][1:]) == [author.name for author in named(ANONYMOUS)[1:4][1:]] == ["C", "B"]


@pytest.mark.parametrize("window", [slice(3, 2), slice(None, None, 2)], ids=str)
def test_an_odd_slice_is_djangos(window: slice) -> None:
    assert [author.name for author in named(ANONYMOUS)[window]] == list("EDCBA"[window])


def test_a_slice_from_the_end_is_refused_as_django_does() -> None:
    with pytest.raises(ValueError, match="Negative indexing is not supported"):
        named(ANONYMOUS)[-2:]


def test_a_copy_has_the_same_rows() -> None:
    assert [author.name for author in deepcopy(named(ANONYMOUS, least="C")[1:])] == ["D", "C"]


def test_other_values_and_other_places_of_a_slice_share_a_statement() -> None:
    found = [names(named(ANONYMOUS, least=least)[low : low + 2]) for least in "ABC" for low in (1, 2)]

    assert found == [["D", "C"], ["C", "B"], ["D", "C"], ["C", "B"], ["D", "C"], ["C"]]
    assert len(STATEMENTS._items) == 1


def test_rows_of_a_shape_can_be_used_as_any_queryset() -> None:
    rows = named(ANONYMOUS, least="B")

    assert rows.exists()
    assert rows.count() == len(rows) == 4
    assert [author.name for author in rows.filter(name__lt="D").reverse()] == ["B", "C"]
    assert Post.objects.filter(author__in=rows).count() == 0
    assert names(rows.filter(name__lt="D")) == ["C", "B"]


def test_rows_that_depend_on_the_asker_are_everyones_own() -> None:
    askers = [make_actor(Role.AUTHOR, author=make_author(name=name)) for name in ("Mine", "Yours")]

    found = [run("{ authors { name } }", schema=schema(authors=own(asker)), actor=asker).data for asker in askers]

    assert found == [{"authors": [{"name": "Mine"}]}, {"authors": [{"name": "Yours"}]}]
    assert names(own(ANONYMOUS)) == []


def test_askers_with_other_kinds_of_credential_share_no_statement() -> None:
    keyed = replace(ANONYMOUS, credential="session")

    assert own(ANONYMOUS).shape != own(keyed).shape  # type: ignore[attr-defined]
