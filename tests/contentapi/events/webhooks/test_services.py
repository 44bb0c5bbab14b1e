"""Who creates and changes webhooks, and what a webhook may be."""

from typing import Any

import pytest

from contentapi.core.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated, VersionConflict
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope
from contentapi.events.webhooks import services
from contentapi.events.webhooks.models import Webhook
from contentapi.events.webhooks.services import create_webhook, delete_webhook, edit_webhook, rotate_secret
from contentapi.events.webhooks.signing import list_keys
from tests.contentapi.events.webhooks.hooks import make_hook
from tests.event_log import relay
from tests.factories import make_actor

pytestmark = pytest.mark.django_db
VALUES: dict[str, Any] = {"name": "Site", "url": "https://hooks.example.com/", "types": ["post.*"]}


@pytest.fixture(autouse=True)
def log() -> None:
    relay()


def test_webhook_begins_at_the_present_with_all_scopes_of_its_maker(admin_actor: Actor) -> None:
    made = create_webhook(actor=admin_actor, **VALUES)

    webhook = Webhook.objects.get(pk=made.webhook.pk)
    assert webhook.maker_id == admin_actor.user_id
    assert set(webhook.scopes) == set(ALL_SCOPES)
    assert list_keys(webhook) == [made.secret]
    assert made.secret.encode() not in bytes(webhook.secret)


@pytest.mark.parametrize("role", [Role.READER, Role.AUTHOR, Role.EDITOR])
def test_only_admins_create_webhooks(role: Role) -> None:
    with pytest.raises(Forbidden, match="create webhooks"):
        create_webhook(actor=make_actor(role, scopes=set(ALL_SCOPES)), **VALUES)


def test_anonymous_callers_and_admins_without_the_scope_create_none() -> None:
    with pytest.raises(Unauthenticated):
        create_webhook(actor=ANONYMOUS, **VALUES)
    with pytest.raises(Forbidden):
        create_webhook(actor=make_actor(Role.ADMIN, scopes={Scope.POSTS_READ}), **VALUES)


def test_only_the_operator_names_the_maker(admin_actor: Actor) -> None:
    other = make_actor(Role.ADMIN)

    assert create_webhook(actor=OPERATOR, **VALUES, maker_id=other.user_id).webhook.maker_id == other.user_id
    with pytest.raises(Invalid, match="Name the user"):
        create_webhook(actor=OPERATOR, **VALUES)
    with pytest.raises(Forbidden, match="of this user"):
        create_webhook(actor=admin_actor, **VALUES, maker_id=other.user_id)


def test_webhook_has_no_scope_that_its_maker_lacks() -> None:
    narrow = make_actor(Role.ADMIN, scopes={Scope.WEBHOOKS_MANAGE, Scope.EVENTS_READ})

    assert create_webhook(actor=narrow, **VALUES).webhook.scopes == ["events:read", "webhooks:manage"]
    with pytest.raises(Forbidden, match="users:read"):
        create_webhook(actor=narrow, **VALUES, scopes=["users:read"])


INVALID: dict[str, list[Any]] = {
    "name": [" ", "n" * 151, "two\nlines"],
    "url": ["https://127.0.0.1/"],
    "types": [[], ["post.eaten"], ["post.*"] * 51],
    "coalesce": [-1, 301, 1.5],
    "scopes": [["everything"]],
    "selection": [
        "{ posts { id } }",
        "fragment Data on Post { nothing }",
        "fragment Data on Post { title",
        "fragment Data on Query { posts { id } }",
        "fragment Data on Post { comments(limit: 0) { body } }",
        "fragment Data on Post { comments(limit: $size) { body } }",
        "fragment Data on Post { title } fragment Unused on Comment { id } fragment More on Comment { id }",
        "fragment Data on Post { comments { author { posts { comments { id } } } } }",
        "fragment Data on Post { title } #" + "x" * 8192,
    ],
}


def test_invalid_value_is_refused_by_its_field(admin_actor: Actor) -> None:
    for field, value in ((field, value) for field, values in INVALID.items() for value in values):
        with pytest.raises(Invalid) as refused:
            create_webhook(actor=admin_actor, **{**VALUES, field: value})

        assert list(refused.value.fields) == [field], value


def test_selection_may_spread_fragments(admin_actor: Actor) -> None:
    text = "fragment Data on Post { title author { ...Name } } fragment Name on Author { name }"

    assert create_webhook(actor=admin_actor, **VALUES, selection=text).webhook.selection == text


def test_number_of_webhooks_is_limited(admin_actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_WEBHOOKS", 1)
    create_webhook(actor=admin_actor, **VALUES)

    with pytest.raises(Conflict, match="At most 1 webhooks"):
        create_webhook(actor=admin_actor, **VALUES)


def test_only_the_given_fields_change(admin_actor: Actor) -> None:
    webhook = make_hook(coalesce=30)

    edited = edit_webhook(actor=admin_actor, webhook_id=str(webhook.pk), changes={"name": "New"}, expected_version="1")

    assert (edited.name, edited.coalesce, edited.version) == ("New", 30, 2)
    same = edit_webhook(actor=admin_actor, webhook_id=str(webhook.pk), changes={"name": "New"})
    assert same.version == 2
    with pytest.raises(VersionConflict):
        edit_webhook(actor=admin_actor, webhook_id=str(webhook.pk), changes={"name": "Old"}, expected_version="1")
    with pytest.raises(Invalid):
        edit_webhook(actor=admin_actor, webhook_id=str(webhook.pk), changes={"enabled": None})


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "https://elsewhere.example.com/"},
        {"selection": "fragment Data on User { email }"},
        {"types": ["user.*"]},
        {"enabled": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_narrow_credential_does_not_take_over_the_rights_of_a_webhook(changes: dict[str, Any]) -> None:
    webhook = make_hook()
    narrow = make_actor(Role.ADMIN, scopes={Scope.WEBHOOKS_MANAGE})

    with pytest.raises(Forbidden, match="use a webhook with"):
        edit_webhook(actor=narrow, webhook_id=str(webhook.pk), changes=changes)
    with pytest.raises(Forbidden, match="use a webhook with"):
        rotate_secret(actor=narrow, webhook_id=str(webhook.pk))
    assert not edit_webhook(actor=narrow, webhook_id=str(webhook.pk), changes={"enabled": False}).is_enabled


def test_former_secret_signs_for_a_day(admin_actor: Actor) -> None:
    first = create_webhook(actor=admin_actor, **VALUES)
    second, third = (rotate_secret(actor=admin_actor, webhook_id=str(first.webhook.pk)) for _ in range(2))

    assert list_keys(second.webhook) == [second.secret, first.secret]
    assert list_keys(third.webhook) == [third.secret, second.secret]
    assert third.webhook.previous_until is not None


def test_secret_of_another_key_is_rotated(admin_actor: Actor, settings: Any) -> None:
    made = create_webhook(actor=admin_actor, **VALUES)
    settings.SECRET_KEY = "another" * 10

    again = rotate_secret(actor=admin_actor, webhook_id=str(made.webhook.pk))
    assert list_keys(again.webhook) == [again.secret]


def test_deleted_webhook_is_gone(admin_actor: Actor) -> None:
    webhook = make_hook()
    delete_webhook(actor=admin_actor, webhook_id=str(webhook.pk))

    with pytest.raises(NotFound):
        delete_webhook(actor=admin_actor, webhook_id=str(webhook.pk))
