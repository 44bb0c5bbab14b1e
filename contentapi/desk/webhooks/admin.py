"""Webhooks in the admin site: where events are sent, whether they arrive, and the secret, which is shown once."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from contentapi.auth.people import name_users
from contentapi.auth.sessions import get_actor
from contentapi.core import policy
from contentapi.core.identity import Actor
from contentapi.desk.actions import Action, perform_each
from contentapi.desk.bases import Page, PolicyAdmin
from contentapi.desk.rendering import build_column
from contentapi.desk.webhooks import deliveries
from contentapi.desk.webhooks.forms import ReplayForm, RotateForm, WebhookForm
from contentapi.events.feed import read_log
from contentapi.events.models import Event
from contentapi.events.webhooks import resending, selectors, services
from contentapi.events.webhooks.models import Webhook

STATES = {"active": "success", "failing": "warning", "disabled": "danger"}
NEWEST = 10  # deliveries below the form
FIELDS = list(services.EDITABLE)


def may_manage(actor: Actor, _: Webhook) -> bool:
    return policy.may_manage_webhooks(actor)


def rotate(actor: Actor, webhook: Webhook, values: Mapping[str, Any]) -> Webhook:
    """Give a webhook a new secret, which its row has until the response shows it."""
    found = services.rotate_secret(actor=actor, webhook_id=str(webhook.pk), expected_version=values["opened"])
    webhook.secret_shown_once = found.secret  # type: ignore[attr-defined]
    return webhook


def replay(actor: Actor, webhook: Webhook, values: Mapping[str, Any]) -> Webhook:
    """Send the events of the last hours again. The row of the webhook then has their number."""
    after = find_cursor(timezone.now() - timedelta(hours=values["hours"])) if values["hours"] else None
    only_failed = values["only_failed"]
    found = resending.replay_webhook(actor=actor, webhook_id=str(webhook.pk), after=after, only_failed=only_failed)
    webhook.replayed = found.delivery_count  # type: ignore[attr-defined]
    return webhook


def find_cursor(since: datetime) -> str:
    """Return the cursor after which the events since a time begin."""
    log, utc = read_log(), since.astimezone(UTC)
    # `day` selects the partitions: an event gets its position after it has happened.
    later = Event.objects.filter(day__gte=utc.date(), timestamp__gte=utc, position__gt=log.expired)
    first = later.order_by("position").values_list("position", flat=True).first()
    return log.format_cursor(log.position if first is None else first - 1)


def describe_state(webhook: Webhook) -> tuple[str, str]:
    """Return the state for its colour, and in words."""
    if webhook.disabled_at is not None:
        return "disabled", f"disabled: {webhook.get_disabled_reason_display()}"
    if webhook.failing_since is not None:
        return "failing", f"failing since {webhook.failing_since:%Y-%m-%d %H:%M} UTC"
    return "active", "active"


@admin.register(Webhook)
class WebhookAdmin(PolicyAdmin):
    """All webhooks, for admins. A webhook belongs to the admin who creates it."""

    pages: ClassVar = [
        Page("<str:object_id>/deliveries/", "deliveries", deliveries.show_deliveries),
        Page("<str:object_id>/deliveries/<str:delivery_id>/", "delivery", deliveries.show_delivery),
        Page("<str:object_id>/deliveries/<str:delivery_id>/redeliver/", "redeliver", deliveries.redeliver, "../"),
    ]
    desk_actions: ClassVar = [
        Action(
            name="ping",
            label="Send a ping",
            done="Pinged",
            help="Sends an event of the type webhook.ping, to see whether the receiver responds.",
            perform=perform_each(resending.ping_webhook, "webhook_id"),
            is_permitted=may_manage,
            is_offered=lambda webhook: webhook.is_enabled,
        ),
        Action(
            name="replay",
            label="Send again since …",
            done="Replayed",
            help="Sends events of the last hours once more, each with the id that it had: the receiver knows those "
            "that it has processed.",
            perform=replay,
            is_permitted=may_manage,
            is_offered=lambda webhook: webhook.is_enabled,
            form=ReplayForm,
        ),
        Action(
            name="rotate",
            label="New secret",
            done="Given a new secret",
            help="The webhook gets a new secret, which is shown once. For 24 hours, the old one is valid too: enter "
            "the new one at the receiver in this time.",
            perform=rotate,
            is_permitted=may_manage,
            form=RotateForm,
            read_initial=lambda webhook: {"opened": webhook.version},
        ),
        Action(
            name="disable",
            label="Disable",
            done="Disabled",
            help="Nothing is sent. What happens in this time is sent when the webhook is enabled again, as far as the "
            "log still has it.",
            perform=perform_each(partial(services.edit_webhook, changes={"enabled": False}), "webhook_id"),
            is_permitted=may_manage,
            is_offered=lambda webhook: webhook.is_enabled,
            confirmed_from=1,
            is_dangerous=True,
        ),
        Action(
            name="enable",
            label="Enable",
            done="Enabled",
            help="Events are sent again, first those that wait.",
            perform=perform_each(partial(services.edit_webhook, changes={"enabled": True}), "webhook_id"),
            is_permitted=may_manage,
            is_offered=lambda webhook: not webhook.is_enabled,
        ),
    ]
    form = WebhookForm

    class Media:
        css: ClassVar = {"all": ["desk/webhooks.css"]}

    shown_once_template = "desk/webhooks/secret.html"
    change_form_outer_before_template = "desk/webhooks/above.html"
    change_form_outer_after_template = "desk/webhooks/below.html"
    deletion_note = "What waits is not sent, and the list of deliveries is lost."
    list_display = ["name", "show_address", "show_types", "show_state", "show_created_at"]
    readonly_fields = ["show_state", "show_maker", "show_created_at"]
    sortable_by: ClassVar[list[str]] = []
    search_fields = ["name__folded", "url__folded"]
    ordering = ["-created_at", "-id"]
    may_open = may_add = staticmethod(policy.may_manage_webhooks)
    may_change = may_delete = staticmethod(may_manage)
    select_rows = staticmethod(lambda actor: selectors.select_visible_webhooks(actor).queryset())
    delete = staticmethod(lambda actor, row: services.delete_webhook(actor=actor, webhook_id=str(row.pk)))

    def describe_row(self, row: Webhook) -> str:
        return row.url

    def get_fields(self, request: HttpRequest, obj: Webhook | None = None) -> list[str]:
        return FIELDS if obj is None else [*FIELDS, *self.readonly_fields]

    show_address = build_column("Address", lambda webhook: webhook.url)
    show_types = build_column("Events", lambda webhook: ", ".join(webhook.types))
    show_state = build_column("Status", describe_state, label=STATES)
    show_maker = build_column("Created by", lambda row: name_users([row.maker_id]).get(row.maker_id, "a deleted user"))

    def build_form_context(self, request: HttpRequest, row: Webhook | None) -> dict[str, Any]:
        if row is None:
            return {}
        actor = get_actor(request)
        hours, sums = deliveries.count_by_hour(row)
        return {
            "hours": hours,
            "sums": sums,
            "most": max(1, *(hour.total for hour in hours)),  # the height of the bars
            "is_complete": sums.total < deliveries.MOST_COUNTED,
            "deliveries": selectors.select_deliveries(actor, str(row.pk)).queryset()[:NEWEST],
        }

    def create(self, actor: Actor, row: Webhook, form: WebhookForm) -> Webhook:
        created = services.create_webhook(actor=actor, **{name: form.cleaned_data[name] for name in FIELDS})
        row.secret_shown_once = created.secret  # type: ignore[attr-defined]
        return created.webhook

    def edit(self, actor: Actor, row: Webhook, form: WebhookForm) -> None:
        changes = {name: form.cleaned_data[name] for name in FIELDS}
        services.edit_webhook(actor=actor, webhook_id=str(row.pk), changes=changes)

    def describe_outcome(self, action: Action, rows: Sequence[Webhook]) -> str:
        """Return what was done; of a replay, how many events are sent again."""
        if action.name != "replay":
            return super().describe_outcome(action, rows)
        number = rows[0].replayed  # type: ignore[attr-defined]
        return f"{number:,} {'event is' if number == 1 else 'events are'} sent again."
