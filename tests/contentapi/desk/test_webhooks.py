"""The pages of webhooks in the desk: what admins see and do there, and that a secret is shown once."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from contentapi.core.identity import Role
from contentapi.desk.webhooks.admin import describe_state
from contentapi.events.webhooks.models import Delivery, DeliveryState, Webhook
from contentapi.events.webhooks.signing import decrypt_secret
from tests.admin_forms import get_form_errors, open_form, read_form
from tests.blog.test_history_admin import get_messages
from tests.event_log import relay
from tests.factories import make_post, make_user
from tests.webhook_rows import URL, make_webhook
from users.models import User

ADD, LIST = reverse("admin:events_webhook_add"), reverse("admin:events_webhook_changelist")
TIME = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]+")
NEW = {
    "name": "Search index",
    "url": URL,
    "types": ["post.*", "author.updated"],
    "coalesce": "30",
    "scopes": ["posts:read"],
}


def open_page(name: str, *ids: object) -> str:
    return reverse(f"admin:events_webhook_{name}", args=ids)


def act(admin_client: Client, webhook: Webhook, action: str, **edits: Any) -> Any:
    """Press a button; send the form of an action that has one."""
    url = open_page("action", webhook.pk, action)
    page = admin_client.get(url)
    values = read_form(page.text) if page.status_code == 200 else {}
    return admin_client.post(url, {**values, **edits}, follow=True)


def send_form(admin_client: Client, page: str, **edits: Any) -> Any:
    return admin_client.post(page, {**open_form(admin_client, page), **edits})


def test_admin_creates_a_webhook_and_sees_its_secret_once(admin_client: Client, admin_user: User) -> None:
    response = send_form(admin_client, ADD, **NEW)

    webhook = Webhook.objects.get()
    [secret] = SECRET.findall(response.text)
    assert secret == decrypt_secret(bytes(webhook.secret), webhook.pk)
    assert "no-store" in response["Cache-Control"]
    assert (webhook.name, webhook.url, webhook.coalesce, webhook.maker_id) == ("Search index", URL, 30, admin_user.pk)
    assert (webhook.types, webhook.scopes) == (["author.updated", "post.*"], ["posts:read"])
    pages = [
        admin_client.get(url).text
        for url in (LIST, open_page("change", webhook.pk), open_page("deliveries", webhook.pk))
    ]
    kept = [*pages, str(admin_client.cookies), *[str(session.get_decoded()) for session in Session.objects.all()]]
    assert all("whsec_" not in text for text in kept)


@pytest.mark.parametrize(
    ("edits", "field"),
    [
        ({"types": []}, "types"),
        ({"selection": "fragment Data on Post { nothing }"}, "selection"),
    ],
)
def test_webhook_against_a_rule_is_refused_in_the_form(admin_client: Client, edits: dict[str, Any], field: str) -> None:
    response = send_form(admin_client, ADD, **{**NEW, **edits})

    assert (response.status_code, Webhook.objects.exists()) == (200, False)
    assert list(get_form_errors(response)) == [field]


def test_form_changes_a_webhook_and_keeps_its_secret(admin_client: Client, admin_user: User) -> None:
    webhook = make_webhook(admin_user, selection="fragment Data on Post { title }")
    page = open_page("change", webhook.pk)

    response = send_form(admin_client, page, name="Cache", types=["post.published"])

    changed = Webhook.objects.get()
    assert response.status_code == 302
    assert (changed.name, changed.types, changed.selection) == ("Cache", ["post.published"], webhook.selection)
    assert bytes(changed.secret) == bytes(webhook.secret)


def test_new_secret_is_shown_once_and_the_form_makes_one_only(admin_client: Client, admin_user: User) -> None:
    webhook = make_webhook(admin_user)
    url = open_page("action", webhook.pk, "rotate")
    form = open_form(admin_client, url)

    responses = [admin_client.post(url, form, follow=True) for _ in range(2)]

    found = [SECRET.findall(response.text) for response in responses]
    rotated = Webhook.objects.get()
    assert found == [[decrypt_secret(bytes(rotated.secret), rotated.pk)], []]
    assert "no-store" in responses[0]["Cache-Control"]
    assert bytes(rotated.previous_secret or b"") == bytes(webhook.secret)
    assert "Version conflict" in responses[1].text


def test_button_disables_a_webhook_and_the_other_one_enables_it(admin_client: Client, admin_user: User) -> None:
    webhook = make_webhook(admin_user)

    states = []
    for action in ("disable", "enable"):
        act(admin_client, webhook, action)
        page = admin_client.get(open_page("change", webhook.pk)).text
        offered = {each for each in ("disable", "enable", "ping") if open_page("action", webhook.pk, each) in page}
        states.append((Webhook.objects.get().is_enabled, offered))

    assert states == [(False, {"enable"}), (True, {"disable", "ping"})]
    assert set(LogEntry.objects.values_list("change_message", flat=True)) == {"Disabled.", "Enabled."}


def test_ping_is_a_delivery_of_the_webhook(admin_client: Client, admin_user: User) -> None:
    webhook = make_webhook(admin_user)

    response = act(admin_client, webhook, "ping")

    delivery = Delivery.objects.get()
    assert (delivery.webhook_id, delivery.type, delivery.state) == (webhook.pk, "webhook.ping", DeliveryState.WAITING)
    assert open_page("delivery", webhook.pk, delivery.pk) in response.text


def test_deletion_removes_the_webhook(admin_client: Client, admin_user: User) -> None:
    webhook = make_webhook(admin_user)

    send_form(admin_client, open_page("delete", webhook.pk), post="yes")

    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, ("active", "active")),
        ({"failing_since": TIME}, ("failing", "failing since 2026-01-01 00:00 UTC")),
        ({"disabled_at": TIME, "disabled_reason": "gone"}, ("disabled", "disabled: the receiver answered 410")),
    ],
)
def test_state_is_in_words(changes: dict[str, Any], shown: tuple[str, str]) -> None:
    assert describe_state(Webhook(**changes)) == shown


def test_page_names_the_maker_also_if_the_account_is_deleted(admin_client: Client, admin_user: User) -> None:
    webhook, lost = make_webhook(admin_user), make_webhook(make_user(Role.ADMIN, name="Otto"))
    User.objects.filter(pk=lost.maker_id).delete()

    pages = [admin_client.get(open_page("change", each.pk)).text for each in (webhook, lost)]

    assert ["Ada" in pages[0], "a deleted user" in pages[1]] == [True, True]


def test_replay_sends_the_events_of_the_last_hours_again(admin_client: Client, admin_user: User) -> None:
    make_post(status="published")
    relay()
    webhook = make_webhook(admin_user)

    response = act(admin_client, webhook, "replay", hours="24", only_failed="")

    assert get_messages(response) == ["1 event is sent again."]
    assert [delivery.type for delivery in Delivery.objects.all()] == ["post.created"]
