"""Who may write, see and name what: scopes, rules of the team, and relations to what the caller may not see."""

from dataclasses import replace
from typing import Any

import pytest
from dishes.models import Dish
from django.db import connection
from django.db.models import Q
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from blog import services
from contentapi.core.errors import Conflict
from contentapi.core.identity import ANONYMOUS, OPERATOR, Actor, Role, Scope
from contentapi.events.models import OutboxEvent
from contentapi.events.sources import EventTypes
from contentapi.monitoring.audit import AuditEvent
from contentapi.types import policy
from contentapi.types import services as own_services
from contentapi.types.models import get_own_model
from contentapi.types.runtime import build_app
from tests.admin_forms import get_page, read_form, submit_form
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_image, make_post, make_user
from tests.own.cases.types.rows import BODY, make_dish
from tests.resources import send_request

READ, WRITE = Scope("dishes:read"), Scope("dishes:write")
HIDDEN = "This has a title that is not public"


def set_rule(patch: pytest.MonkeyPatch, **rules: Any) -> None:
    for name, rule in rules.items():
        patch.setattr(get_own_model(Dish), name, rule)


def write_all(actor: Actor, dish: Dish) -> list[int]:
    """Return the statuses of a creation, a change, both publications and a deletion."""
    where = f"/dishes/{dish.pk}"
    return [
        send_request("POST", "/dishes", BODY, actor=actor).status,
        send_request("PATCH", where, {"title": "New"}, actor=actor).status,
        send_request("POST", f"{where}/publish", actor=actor).status,
        send_request("POST", f"{where}/unpublish", actor=actor).status,
        send_request("DELETE", where, actor=actor).status,
    ]


def test_rule_for_writes_does_not_replace_the_scopes(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rule(monkeypatch, may_write=lambda actor, _: actor.role == Role.EDITOR)

    assert write_all(make_actor(Role.EDITOR, scopes={READ, Scope.EVENTS_READ}), make_dish()) == [403] * 5


def test_rule_for_writes_is_asked_at_each_write(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rule(monkeypatch, may_write=lambda *_: False)

    assert write_all(make_actor(Role.EDITOR), make_dish()) == [403] * 5


def test_image_that_the_caller_may_not_see_cannot_be_named() -> None:
    key, image = make_actor(Role.AUTHOR, scopes={READ, WRITE}), make_image()

    hidden = send_request("POST", "/dishes", {**BODY, "coverId": str(image.pk)}, actor=key)
    make_dish(cover=image, published_at=timezone.now())
    seen = send_request("POST", "/dishes", {**BODY, "coverId": str(image.pk)}, actor=key)

    assert (hidden.status, seen.status) == (422, 201)
    assert f"There is no image with the id {image.pk}." in hidden.content.decode()


def test_form_shows_no_title_of_a_post_that_the_person_may_not_see(client: Client) -> None:
    user, draft = make_user(Role.AUTHOR), make_post(title=HIDDEN, status="draft")
    client.force_login(user)
    mine = make_dish(author=make_author(user=user), related_ids=[draft.pk])
    add = reverse("admin:dishes_dish_add")

    shown = client.get(get_page(mine)).text
    refused = submit_form(client, add, title="Soup", related_ids=[str(draft.pk)])
    saved = submit_form(client, get_page(mine), title="New")

    assert HIDDEN not in shown + refused.text
    assert read_form(shown)["related_ids"] == [str(draft.pk)]
    assert (saved.status_code, Dish.objects.get().related_ids) == (302, [draft.pk])


def test_rule_for_reads_narrows_what_is_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rule(monkeypatch, rows=lambda _: Q(title="Shown"))
    # statements are kept for an actor's rights, and no other test has these scopes
    actor = make_actor(Role.READER, scopes={Scope.EVENTS_READ, Scope.AUTHORS_READ})
    shown, hidden = (make_dish(title=title, published_at=timezone.now()) for title in ("Shown", "Hidden"))
    rows = (shown, hidden, make_dish(title="Shown"))

    assert [send_request("GET", f"/dishes/{row.pk}", actor=actor).status for row in rows] == [200, 404, 404]


def test_events_of_rows_that_a_rule_hides_are_hidden_too(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rule(monkeypatch, rows=lambda _: Q(title="Shown"))
    types = EventTypes(build_app(get_own_model(Dish)).types)
    for title in ("Shown", "Hidden", "Deleted"):
        make_dish(title=title, published_at=timezone.now())
    Dish.objects.get(title="Deleted").delete()
    shown = Dish.objects.get(title="Shown").pk

    for actor in (ANONYMOUS, make_actor(Role.ADMIN)):
        seen = OutboxEvent.objects.filter(types.visible(actor), type__startswith="dish.")
        assert {*seen.values_list("subject_id", flat=True)} == {shown}


def test_row_is_hidden_whose_required_row_the_caller_may_not_see(monkeypatch: pytest.MonkeyPatch) -> None:
    own = get_own_model(Dish)
    seen, _ = (make_dish(published_at=timezone.now(), author=make_author(name=name)) for name in ("Ann", "Bo"))
    hidden = replace(own.types["Author"], related=lambda rows, _: rows.filter(name="Ann"))
    monkeypatch.setattr(own, "types", {**own.types, "Author": hidden})
    monkeypatch.setattr(own, "guarded", [own.sdl.find_field("author")])

    for actor in (ANONYMOUS, make_actor(Role.ADMIN)):
        assert [*Dish.objects.filter(policy.visible_rows(own, actor))] == [seen]


def test_conflict_names_only_rows_that_the_caller_may_see() -> None:
    author = make_author(name="Ann")
    make_dish(author=author, title=HIDDEN)
    make_dish(author=author, title="Soup", published_at=timezone.now())

    editor = make_actor(Role.EDITOR, scopes=frozenset(Scope) - {READ})
    with pytest.raises(Conflict) as refused:
        services.authors.delete_author(actor=editor, author_id=str(author.pk))
    with pytest.raises(Conflict, match=HIDDEN):
        services.authors.delete_author(actor=OPERATOR, author_id=str(author.pk))

    message = "This is required by “Soup”, 1 other dish. Change or delete what requires it first."
    assert str(refused.value) == message


def test_fields_can_be_named_like_parameters_and_have_digits_and_capitals(gql: GraphQL) -> None:
    values = {**BODY, "model": "Gas 7", "line2URL": "With leeks"}
    actor = make_actor(Role.EDITOR)
    create = "mutation C($input: CreateDishInput!) { createDish(input: $input) { dish { model line2URL } } }"

    rest = send_request("POST", "/dishes", values, actor=actor)
    graph = gql(create, input=values, actor=actor)

    assert (rest.status, rest.body["model"], rest.body["line2URL"]) == (201, "Gas 7", "With leeks")
    assert graph.data["createDish"]["dish"] == {"model": "Gas 7", "line2URL": "With leeks"}
    changed = send_request("PATCH", f"/dishes/{rest.body['id']}", {"line2URL": "New"}, actor=actor)
    assert changed.body["line2URL"] == "New"
    assert OutboxEvent.objects.get(type="dish.updated").changes == ["line2URL"]


def test_named_rows_are_locked_until_the_write_ends() -> None:
    post = make_post()
    values = {**BODY, "author_id": str(make_author().pk), "related_ids": [str(post.pk)]}

    with CaptureQueriesContext(connection) as executed:
        own_services.create_row(Dish, actor=OPERATOR, **values)

    locks = [each["sql"] for each in executed if "FOR KEY SHARE" in each["sql"]]

    assert len(locks) == 1
    assert '"blog_post"' in locks[0]


def test_suggestions_have_no_page_that_overflows(client: Client) -> None:
    client.force_login(make_user(Role.EDITOR))
    page = reverse("admin:dishes_dish_choose", args=["related"])

    assert client.get(page, {"page": "9223372036854775807"}).json()["results"] == []


def test_lines_of_the_audit_log_need_no_new_class() -> None:
    actor, where = make_actor(Role.EDITOR), f"/dishes/{make_dish().pk}"
    send_request("POST", f"{where}/publish", actor=actor)
    before = len(AuditEvent.__subclasses__())

    assert send_request("POST", f"{where}/unpublish", actor=actor).status == 200

    assert len(AuditEvent.__subclasses__()) == before


@pytest.mark.django_db(transaction=True)
def test_what_a_rule_of_the_team_refuses_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def create(**values: Any) -> Dish:
        own_services.create_row(Dish, **values)
        raise Conflict("There is no room.")

    def update(**values: Any) -> Dish:
        own_services.update_row(Dish, **values)
        raise Conflict("There is no room.")

    dish, editor = make_dish(), make_actor(Role.EDITOR)
    set_rule(monkeypatch, create=create, update=update)

    created = send_request("POST", "/dishes", {**BODY, "authorId": str(dish.author_id)}, actor=editor)
    changed = send_request("PATCH", f"/dishes/{dish.pk}", {"title": "New"}, actor=editor)
    published = send_request("POST", f"/dishes/{dish.pk}/publish", actor=editor)

    assert (created.status, changed.status, published.status) == (409, 409, 409)
    assert [*Dish.objects.values_list("title", "published_at")] == [("Soup", None)]


def test_rule_for_changes_decides_about_publications(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def update(**values: Any) -> Dish:
        seen.append(values["changes"])
        return own_services.update_row(Dish, **values)  # type: ignore[no-any-return]

    set_rule(monkeypatch, update=update)
    where, editor = f"/dishes/{make_dish().pk}", make_actor(Role.EDITOR)

    done = [send_request("POST", f"{where}/{action}", actor=editor) for action in ("publish", "unpublish")]

    assert [response.body["version"] for response in done] == ["2", "3"]
    assert [[*changes] for changes in seen] == [["published_at"]] * 2
    assert seen[1] == {"published_at": None}


def test_refused_publication_names_the_scope_that_the_credential_lacks(gql: GraphQL) -> None:
    dish, key = make_dish(published_at=timezone.now()), make_actor(Role.EDITOR, scopes={READ, WRITE})
    unpublish = "mutation M($input: UnpublishDishInput!) { unpublishDish(input: $input) { dish { id } } }"

    refused = send_request("POST", f"/dishes/{dish.pk}/unpublish", actor=key)
    reader = send_request("POST", f"/dishes/{dish.pk}/unpublish", actor=make_actor(Role.READER))
    graph = gql(unpublish, input={"id": str(dish.pk)}, actor=key)

    message = "You may not unpublish this dish without the scope posts:publish."
    assert [refused.body["error"], graph.body["errors"][0]["message"]] == [message, message]
    assert reader.body["error"] == "You may not unpublish this dish."
