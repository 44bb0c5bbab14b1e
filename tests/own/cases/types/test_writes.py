"""Writes of dishes on both transports: outcomes for each role, limits, versions, and the events."""

from typing import Any

import pytest
from dishes.models import Dish

from blog import services
from contentapi.core.errors import Conflict
from contentapi.core.identity import OPERATOR, Role, Scope
from contentapi.events.models import OutboxEvent
from tests.audit_lines import Lines
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_image, make_post
from tests.own.cases.types.rows import BODY, make_dish
from tests.resources import send_request

CREATE = "mutation Create($input: CreateDishInput!) { createDish(input: $input) { dish { id author { id } } } }"
UPDATE = "mutation Update($input: UpdateDishInput!) { updateDish(input: $input) { dish { title version } } }"
ROLES = [(None, 401), (Role.READER, 403), (Role.AUTHOR, 201), (Role.EDITOR, 201), (Role.ADMIN, 201)]


@pytest.mark.parametrize(("role", "status"), ROLES)
def test_authors_and_editors_create_dishes(gql: GraphQL, role: Role | None, status: int) -> None:
    actor = role and make_actor(role)

    response = send_request("POST", "/dishes", BODY, actor=actor)
    graph = gql(CREATE, input=BODY, actor=actor)

    assert (response.status, graph.status) == (status, 200 if status == 201 else status)
    owners = {dish.author.user_id for dish in Dish.objects.select_related("author")}
    assert owners == ({actor.user_id} if actor and status == 201 else set())


def test_new_dish_is_not_public() -> None:
    author = make_actor(Role.AUTHOR)

    response = send_request("POST", "/dishes", BODY, actor=author)

    where = response.headers["Location"]
    assert (response.body["publishedAt"], response.body["version"]) == (None, "1")
    assert [send_request("GET", where, actor=actor).status for actor in (author, None)] == [200, 404]


@pytest.mark.parametrize(("role", "status"), [(Role.AUTHOR, 403), (Role.EDITOR, 201)])
def test_only_editors_name_another_author(role: Role, status: int) -> None:
    other = make_author()

    response = send_request("POST", "/dishes", {**BODY, "authorId": str(other.pk)}, actor=make_actor(role))

    assert response.status == status
    assert [*Dish.objects.values_list("author_id", flat=True)] == ([other.pk] if status == 201 else [])


@pytest.mark.parametrize(
    ("change", "status", "name"),
    [
        ({"servings": 101}, 422, "servings"),
        ({"servings": 0}, 422, "servings"),
        ({"servings": "4"}, 400, ""),
        ({"servings": 4.0}, 200, ""),
        ({"servings": 4.5}, 400, ""),
        ({"title": "x" * 201}, 422, "title"),
        ({"title": None}, 422, "title"),
        ({"course": "soup"}, 400, ""),
        ({"tags": ["x"] * 101}, 422, "tags"),
        ({"tags": None}, 200, ""),
        ({"isVegan": None}, 200, ""),
        ({"coverId": "7"}, 422, "coverId"),
        ({"relatedIds": ["7"]}, 422, "relatedIds"),
        ({"authorId": "7"}, 422, "authorId"),
        ({"color": "red"}, 400, ""),
    ],
)
def test_wrong_types_are_400_and_broken_limits_422(change: dict[str, Any], status: int, name: str) -> None:
    dish = make_dish()

    response = send_request("PATCH", f"/dishes/{dish.pk}", change, actor=make_actor(Role.EDITOR))

    assert response.status == status
    assert status == 200 or name in response.body["error"]
    assert Dish.objects.get().version == 1


def test_relations_are_written_by_ids_that_the_caller_may_see(gql: GraphQL) -> None:
    author, image, post, draft = make_actor(Role.AUTHOR), make_image(), make_post(), make_post(status="draft")
    values = {**BODY, "coverId": str(image.pk), "relatedIds": [str(post.pk)]}

    made = gql(CREATE, input=values, actor=author).data["createDish"]["dish"]
    refused = gql(UPDATE, input={"id": made["id"], "relatedIds": [str(post.pk), str(draft.pk)]}, actor=author)

    assert refused.codes == ["INVALID"]
    dish = Dish.objects.get()
    assert (dish.cover_id, dish.related_ids) == (image.pk, [post.pk])


@pytest.mark.parametrize(("role", "status"), [(Role.AUTHOR, 404), (Role.READER, 404), (Role.EDITOR, 200)])
def test_others_may_not_know_a_draft_and_editors_change_it(role: Role, status: int) -> None:
    dish = make_dish()

    assert send_request("PATCH", f"/dishes/{dish.pk}", {"title": "X"}, actor=make_actor(role)).status == status


def test_another_version_is_a_conflict_on_both_transports(gql: GraphQL) -> None:
    dish, editor = make_dish(), make_actor(Role.EDITOR)
    where = f"/dishes/{dish.pk}"

    changed = send_request("PATCH", where, {"title": "Better", "expectedVersion": "1"}, actor=editor)
    late = send_request("PATCH", where, {"title": "Best"}, actor=editor, If_Match='"1-c0ffee"')
    graph = gql(UPDATE, input={"id": str(dish.pk), "title": "Best", "expectedVersion": "1"}, actor=editor)

    assert (changed.status, changed.body["version"]) == (200, "2")
    assert (late.status, graph.codes) == (409, ["CONFLICT"])
    assert Dish.objects.get().title == "Better"


def test_publication_needs_its_scope_and_is_repeatable() -> None:
    author = make_author()
    dish, actor = make_dish(author=author), make_actor(Role.AUTHOR, author=author)
    where = f"/dishes/{dish.pk}/publish"
    without = make_actor(Role.EDITOR, scopes={Scope("dishes:read"), Scope("dishes:write")})

    refused = send_request("POST", where, actor=without).status
    published = [send_request("POST", where, actor=actor) for _ in range(2)]

    assert refused == 403
    assert [response.body["version"] for response in published] == ["2", "2"]
    assert published[0].body["publishedAt"] is not None
    assert send_request("POST", f"/dishes/{dish.pk}/unpublish", actor=actor).body["publishedAt"] is None


def test_mutations_publish_unpublish_and_delete(gql: GraphQL) -> None:
    dish, editor = make_dish(), make_actor(Role.EDITOR)
    text = """mutation M($p: PublishDishInput!, $u: UnpublishDishInput!, $d: DeleteDishInput!) {
      publishDish(input: $p) { dish { version } }
      unpublishDish(input: $u) { dish { publishedAt } }
      deleteDish(input: $d) { deletedDishId }
    }"""
    given = {"id": str(dish.pk)}

    done = gql(text, p={**given, "expectedVersion": "1"}, u=given, d=given, actor=editor).data

    assert done["publishDish"] == {"dish": {"version": "2"}}
    assert done["unpublishDish"] == {"dish": {"publishedAt": None}}
    assert done["deleteDish"] == {"deletedDishId": str(dish.pk)}
    assert not Dish.objects.exists()


def test_each_write_is_an_event_with_the_secrecy_of_posts() -> None:
    actor = make_actor(Role.AUTHOR)
    where = send_request("POST", "/dishes", BODY, actor=actor).headers["Location"]
    send_request("PATCH", where, {"title": "Better", "tags": ["x"]}, actor=actor)
    send_request("POST", f"{where}/publish", actor=actor)
    send_request("POST", f"{where}/unpublish", actor=actor)
    send_request("DELETE", where, actor=actor)

    events = OutboxEvent.objects.filter(type__startswith="dish.").order_by("id")

    assert [*events.values_list("type", "was", "now", "is_public", "changes")] == [
        ("dish.created", None, "draft", False, []),
        ("dish.updated", "draft", "draft", False, ["title", "tags"]),
        ("dish.published", "draft", "published", True, ["publishedAt"]),
        ("dish.unpublished", "published", "draft", True, ["publishedAt"]),
        ("dish.deleted", "draft", None, False, []),
    ]
    assert {event.actor_id for event in events} == {actor.user_id}


@pytest.mark.django_db(transaction=True)
def test_publication_and_deletion_are_lines_of_the_audit_log(lines: Lines) -> None:
    editor, where = make_actor(Role.EDITOR), f"/dishes/{make_dish().pk}"

    for action in ("publish", "publish", "unpublish"):
        send_request("POST", f"{where}/{action}", actor=editor)
    send_request("DELETE", where, actor=editor)

    assert lines.events == ["dish.published", "dish.unpublished", "dish.deleted"]


def test_author_of_a_dish_cannot_be_deleted() -> None:
    dish = make_dish()

    with pytest.raises(Conflict, match="“Soup”"):
        services.authors.delete_author(actor=OPERATOR, author_id=str(dish.author_id))
