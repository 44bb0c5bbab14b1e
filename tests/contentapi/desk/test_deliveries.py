"""The pages of deliveries in the desk: which ones they list, what one shows, and sending it again."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from contentapi.core.identity import Role
from contentapi.desk.webhooks import deliveries
from contentapi.events.models import Event
from contentapi.events.webhooks.models import Delivery, DeliveryState, Webhook
from tests.event_log import relay
from tests.factories import make_post, make_user
from tests.webhook_rows import make_attempt, make_delivery, make_webhook


@pytest.fixture
def webhook(db: None) -> Webhook:
    return make_webhook(make_user(Role.ADMIN))


def open_page(name: str, *ids: object) -> str:
    return reverse(f"admin:events_webhook_{name}", args=ids)


def read_position() -> int:
    """Return the position of the last event."""
    return Event.objects.latest("position").position


def list_rows(admin_client: Client, webhook: Webhook, **filters: str) -> list[Delivery]:
    return list(admin_client.get(open_page("deliveries", webhook.pk), filters).context["deliveries"])


def test_deliveries_of_the_webhook_are_listed_the_last_first(admin_client: Client, webhook: Webhook) -> None:
    first, second = make_delivery(webhook), make_delivery(webhook)
    make_delivery(make_webhook(make_user(Role.ADMIN)))

    assert list_rows(admin_client, webhook) == [second, first]


def test_tab_lists_the_deliveries_in_its_state(admin_client: Client, webhook: Webhook) -> None:
    made = {each: make_delivery(webhook, state=each) for each in DeliveryState}

    assert list_rows(admin_client, webhook, state="failed") == [made[DeliveryState.FAILED]]


def test_filter_lists_the_deliveries_of_a_type(admin_client: Client, webhook: Webhook) -> None:
    make_delivery(webhook, state=DeliveryState.FAILED)
    update, ping = make_delivery(webhook, type="post.updated"), make_delivery(webhook, type="webhook.ping")

    assert list_rows(admin_client, webhook, type="post.updated") == [update]
    assert list_rows(admin_client, webhook, type="webhook.ping", state="waiting") == [ping]


def test_next_page_goes_on_after_the_last_delivery(
    admin_client: Client, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "SHOWN", 2)
    now = timezone.now()
    made = [make_delivery(webhook, created_at=now) for _ in range(4)]  # at the same time

    first = admin_client.get(open_page("deliveries", webhook.pk))
    second = list_rows(admin_client, webhook, before=str(first.context["next_before"]))

    assert [*first.context["deliveries"], *second] == made[::-1]
    assert f"before={first.context['next_before']}" in first.text


@pytest.mark.parametrize(
    ("name", "value", "status"), [("state", "lost", 400), ("before", "x", 404), ("before", "1", 404)]
)
def test_unknown_filter_is_refused(admin_client: Client, webhook: Webhook, name: str, value: str, status: int) -> None:
    assert admin_client.get(open_page("deliveries", webhook.pk), {name: value}).status_code == status


def test_delivery_shows_the_request_and_each_response(admin_client: Client, webhook: Webhook) -> None:
    post = make_post(status="published", title="Soup <b>for</b> forty")
    relay()
    delivery = make_delivery(webhook, subject_id=post.pk, position=read_position(), message_id="evt_77", attempts=2)
    make_attempt(delivery, 1, error="The receiver answered 500.", status=500, response="<script>alert(1)</script>")
    make_attempt(delivery, 2, error="The connection was refused.")

    text = admin_client.get(open_page("delivery", webhook.pk, delivery.pk)).text

    assert "webhook-id: evt_77" in text
    assert "Soup &lt;b&gt;for&lt;/b&gt; forty" in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert text.index("The connection was refused.") < text.index("The receiver answered 500.")


def test_delivery_of_several_events_shows_them(admin_client: Client, webhook: Webhook) -> None:
    posts = [make_post(status="published") for _ in range(2)]
    relay()
    position = read_position()
    bounds = {"first": "1", "last": str(position)}
    delivery = make_delivery(webhook, type="events.batch", subject_id=0, position=position, batch=bounds)

    text = admin_client.get(open_page("delivery", webhook.pk, delivery.pk)).text

    assert "&quot;count&quot;: 2" in text
    assert all(f"&quot;{post.pk}&quot;" in text for post in posts)
    assert "for the object" not in text


def test_delivery_whose_event_is_gone_says_so(admin_client: Client, webhook: Webhook) -> None:
    delivery = make_delivery(webhook, position=10**9)

    assert "not kept any more" in admin_client.get(open_page("delivery", webhook.pk, delivery.pk)).text


def test_button_sends_a_delivery_again(admin_client: Client, webhook: Webhook) -> None:
    delivery = make_delivery(webhook, state=DeliveryState.FAILED, finished_at=timezone.now())

    response = admin_client.post(open_page("redeliver", webhook.pk, delivery.pk), follow=True)

    again = Delivery.objects.get()
    assert (response.status_code, again.state, again.message_id) == (200, DeliveryState.WAITING, delivery.message_id)
    assert LogEntry.objects.get().change_message == f"Sent delivery {delivery.pk} again."


@pytest.mark.parametrize("page", ["delivery", "redeliver"])
def test_delivery_of_another_webhook_is_not_found(admin_client: Client, webhook: Webhook, page: str) -> None:
    other = make_delivery(make_webhook(make_user(Role.ADMIN)), state=DeliveryState.FAILED)

    response = admin_client.post(open_page(page, webhook.pk, other.pk))

    assert (response.status_code, Delivery.objects.get().state) == (404, DeliveryState.FAILED)


def test_bars_count_the_last_24_hours(admin_client: Client, webhook: Webhook) -> None:
    now = timezone.now()
    for hours, state in ((0, "delivered"), (1, "delivered"), (1, "failed"), (2, "waiting"), (25, "failed")):
        make_delivery(webhook, created_at=now - timedelta(hours=hours), state=state)

    page = admin_client.get(open_page("change", webhook.pk))

    assert "2 delivered, 1 not delivered, 1 waiting." in page.text
    assert [hour[1:4] for hour in page.context["hours"] if hour.total] == [(0, 0, 1), (1, 1, 0), (1, 0, 0)]
    assert 'viewBox="0 0 239 2"' in page.text
    assert page.text.count('y="1" width="9" height="1"') == 1  # the failure above the delivery


def test_admin_sees_to_whom_an_event_of_a_post_was_sent(admin_client: Client, webhook: Webhook) -> None:
    post = make_post(status="published")
    relay()
    page = reverse("admin:blog_post_events", args=[post.pk])
    before = admin_client.get(page).text
    delivery = make_delivery(webhook, subject_id=post.pk, position=read_position(), state=DeliveryState.DELIVERED)

    link = open_page("delivery", webhook.pk, delivery.pk)
    assert (link in admin_client.get(page).text, "Sent to" in before) == (True, False)


def test_editor_does_not_see_to_whom_an_event_was_sent(webhook: Webhook, client: Client) -> None:
    post = make_post(status="published")
    relay()
    make_delivery(webhook, subject_id=post.pk, position=read_position(), state=DeliveryState.DELIVERED)
    client.force_login(make_user(Role.EDITOR))

    response = client.get(reverse("admin:blog_post_events", args=[post.pk]))

    assert (response.status_code, len(response.context["events"]), "Sent to" in response.text) == (200, 1, False)
