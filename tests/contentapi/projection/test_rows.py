"""Results of resolvers: QuerySets, instances, None, and plain objects that contain rows."""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from ariadne import InterfaceType, QueryType, make_executable_schema
from django.db.models import Count as CountOf
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from graphql import GraphQLSchema

from blog.models import Author, Post
from contentapi.core.identity import ANONYMOUS
from contentapi.graphql.bindings import ProjectionBindable
from contentapi.projection import Projection, Rows, ToOne
from contentapi.projection.querysets import select_instance
from tests.contentapi.projection.execution import run
from tests.factories import make_author, make_post, make_user
from users.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_caches")]

SDL = """
type Query { authors: [Author!]! author: Author needed: Author! shelf: Shelf! shelves: [Shelf] users: [User] }
type Author { id: ID! name: String! user: User }
type User { id: ID! email: String! }
type Shelf { label: String! authors: [Author!] best: Author below: [Shelf!] }
"""


@dataclass
class Shelf:
    label: str
    authors: QuerySet[Author] | None = None
    best: Author | None = None
    below: list[dict[str, Any]] | None = None


def schema(**results: Any) -> GraphQLSchema:
    """Return a schema whose root fields resolve to these values."""
    query = QueryType()
    for name, result in results.items():
        query.set_field(name, lambda *_, result=result: result)
    types = ProjectionBindable(
        [
            Projection("Author", Author, {"id": "id", "name": "name", "user": ToOne("user")}),
            Projection("User", User, {"id": "id", "email": "email"}),
        ]
    )
    return make_executable_schema(SDL, query, types)


AUTHORS: list[Any] = []  # the last one is the value of the root field of `NAMED`
NAMED = schema(authors=None)
NAMED.type_map["Query"].fields["authors"].resolve = lambda *_: AUTHORS[-1]  # type: ignore[attr-defined]


def names(rows: QuerySet[Author] | Rows[Author]) -> list[str]:
    AUTHORS[:] = [rows]
    return [author["name"] for author in run("{ authors { name } }", schema=NAMED).data["authors"]]


ROWS: dict[str, tuple[Callable[[], QuerySet[Author]], list[str]]] = {
    "all": (Author.objects.all, ["A", "B", "C", "D"]),
    "none": (Author.objects.none, []),
    "nothing": (lambda: Author.objects.filter(pk__in=[]), []),
    "a comparison": (lambda: Author.objects.filter(name="B"), ["B"]),
    "a comparison of text": (lambda: Author.objects.filter(name__gt="B"), ["C", "D"]),
    "negation": (lambda: Author.objects.exclude(Q(name="B") | Q(email="", name="C")), ["A", "D"]),
    "a list": (lambda: Author.objects.filter(name__in=["A", "D", "%s"]), ["A", "D"]),
    "a pattern": (lambda: Author.objects.filter(name__contains="%"), []),
    "a join": (lambda: Author.objects.filter(posts__title="Second"), ["B"]),
    "a join and distinct": (lambda: Author.objects.filter(posts__status="published").distinct(), ["A", "B"]),
    "a subquery": (lambda: Author.objects.filter(~Exists(Post.objects.filter(author=OuterRef("pk")))), ["C", "D"]),
    "annotations": (
        lambda: Author.objects.annotate(number=CountOf("posts"), text=Value("%")).filter(number=2),
        ["A"],
    ),
    "an order": (lambda: Author.objects.order_by("-name"), ["D", "C", "B", "A"]),
    "an order by a relation": (
        lambda: Author.objects.filter(posts__title__gt="E").order_by("-posts__title"),
        ["B", "A", "A"],
    ),
    "an order with equals": (lambda: Author.objects.order_by("bio", "name"), ["A", "B", "C", "D"]),
    "a beginning": (lambda: Author.objects.order_by("-name")[:1], ["D"]),
    "a middle": (lambda: Author.objects.order_by("-name")[1:3], ["C", "B"]),
    "an end": (lambda: Author.objects.order_by("-name")[2:], ["B", "A"]),
    "a slice of a slice": (lambda: Author.objects.order_by("name")[1:][1:2], ["C"]),
    "a filtered middle": (lambda: Author.objects.filter(name__gt="A").order_by("name")[1:2], ["C"]),
    "columns left out": (lambda: Author.objects.only("bio").defer("name"), ["A", "B", "C", "D"]),
    "a relation with it": (
        lambda: Author.objects.select_related("user").prefetch_related("posts"),
        ["A", "B", "C", "D"],
    ),
}


def test_queryset_returns_its_rows_in_its_order(subtests: pytest.Subtests) -> None:
    first, second, *_ = (make_author(name=name) for name in "ABCD")
    make_post(author=first, title="First")
    make_post(author=first, title="Last")
    make_post(author=second, title="Second")

    for name, (queryset, wanted) in ROWS.items():
        with subtests.test(name):
            found = [names(queryset()), names(queryset())]
            if not queryset().ordered:  # PostgreSQL may return them in any order
                found = [sorted(each) for each in found]

            assert found == [wanted, wanted]


def test_distinct_applies_to_rows_and_not_to_selected_fields() -> None:
    writer = make_author(name="A", user=make_user(email="a@example.invalid"))
    make_post(author=writer)
    make_post(author=writer)
    rows = Author.objects.filter(posts__status="published").order_by("-name").distinct()

    response = run("{ authors { id name user { email } } }", schema=schema(authors=rows))

    whole = [{"id": str(writer.pk), "name": "A", "user": {"email": "a@example.invalid"}}]
    assert response.data == {"authors": whole}


def test_rows_without_an_order_have_the_order_of_their_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "BCA":
        make_author(name=name)
    monkeypatch.setattr(Author._meta, "ordering", ["-name"])

    assert names(Author.objects.all()) == ["C", "B", "A"]
    assert names(Author.objects.order_by("name")) == ["A", "B", "C"]


def test_unsaved_instance_is_an_internal_error() -> None:
    response = run("{ author { name } }", schema=schema(author=Author(name="A")))

    assert [error["extensions"]["code"] for error in response.errors] == ["INTERNAL"]


@pytest.mark.parametrize("number", [0, 1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, -1, -(2**63), -(2**63) - 1])
def test_comparison_with_any_number_returns_rows(number: int) -> None:
    make_author(pk=5, name="A")

    found = [names(Author.objects.filter(pk__gt=value)) for value in (1, number, 1)]

    assert found == [["A"], ["A"] if number < 5 else [], ["A"]]


def test_instance_is_read_from_the_database() -> None:
    author = make_author(name="Old")
    Author.objects.update(name="New")

    response = run("{ author { id name } needed { name } }", schema=schema(author=author, needed=author))

    assert response.data == {"author": {"id": str(author.pk), "name": "New"}, "needed": {"name": "New"}}
    assert len(response.statements) == 2


def test_missing_row_is_null_or_an_error_for_a_non_null_type() -> None:
    nobody = Author.objects.none()

    assert run("{ author { name } }", schema=schema(author=nobody)).data == {"author": None}
    assert run("{ author { name } }", schema=schema(author=None)).data == {"author": None}
    assert [error["path"] for error in run("{ needed { name } }", schema=schema(needed=nobody)).errors] == [["needed"]]


def test_several_rows_for_one_object_are_an_error() -> None:
    make_author()
    make_author()

    response = run("{ author { name } }", schema=schema(author=Author.objects.all()))

    assert [error["path"] for error in response.errors] == [["author"]]


def test_rows_of_another_model_are_an_error() -> None:
    response = run("{ author { name } }", schema=schema(author=User.objects.all()))

    assert [error["path"] for error in response.errors] == [["author"]]


@pytest.mark.parametrize("kind", [dict, Shelf, SimpleNamespace])
def test_plain_objects_are_completed_with_the_rows_they_contain(kind: Callable[..., Any]) -> None:
    author, _ = make_author(name="A"), make_author(name="B")
    shelf = kind(
        label="top",
        authors=Author.objects.order_by("-name"),
        best=author,
        below=[
            {"label": "one", "authors": Author.objects.none(), "best": None},
            {"label": "two", "authors": None, "best": Author.objects.filter(name="B")},
        ],
    )
    selection = "label t: __typename authors { name } best { name }"

    response = run(f"{{ shelf {{ {selection} below {{ {selection} }} }} }}", schema=schema(shelf=shelf))

    assert response.data == {
        "shelf": {
            "label": "top",
            "t": "Shelf",
            "authors": [{"name": "B"}, {"name": "A"}],
            "best": {"name": "A"},
            "below": [
                {"label": "one", "t": "Shelf", "authors": [], "best": None},
                {"label": "two", "t": "Shelf", "authors": None, "best": {"name": "B"}},
            ],
        }
    }


def test_field_of_two_types_has_a_statement_for_each_selection() -> None:
    author = make_author(name="A")
    rows = select_instance(author, ANONYMOUS)  # with one cache key: only the positions of the selections differ
    query = QueryType()
    query.set_field("things", lambda *_: [{"__typename": "Left", "who": rows}, {"__typename": "Right", "who": rows}])
    sdl = """
    type Query { things: [Thing!]! } interface Thing { who: [Author!]! } type Author { id: ID! name: String! }
    type Left implements Thing { who: [Author!]! } type Right implements Thing { who: [Author!]! }
    """
    thing = InterfaceType("Thing", lambda value, *_: value["__typename"])
    types = ProjectionBindable([Projection("Author", Author, {"id": "id", "name": "name"})])

    response = run(
        "{ things { ... on Left { who { id } } ... on Right { who { id name } } } }",
        schema=make_executable_schema(sdl, query, thing, types),
    )

    of_left, of_right = {"id": str(author.pk)}, {"id": str(author.pk), "name": "A"}
    assert response.data == {"things": [{"who": [of_left]}, {"who": [of_right]}]}
