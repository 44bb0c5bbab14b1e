"""The root fields of webhooks. Each calls one selector or one service."""

from typing import Any

from ariadne import MutationType, QueryType

from contentapi.events.webhooks import resending, selectors, services
from contentapi.events.webhooks.models import DeliveryState, DisabledReason
from contentapi.graphql.root_fields import Info, bind_fields, build_enum, pass_arguments, pass_changes
from contentapi.graphql.sorting import build_sort

QUERY = bind_fields(
    QueryType(),
    {
        "webhook": pass_arguments(selectors.select_webhook_by_id, "webhook_id"),
        "webhooks": pass_arguments(selectors.build_webhooks_connection),
        "webhookDelivery": pass_arguments(selectors.select_delivery_by_id, "delivery_id"),
    },
)
MUTATION = bind_fields(
    MutationType(),
    {
        "updateWebhook": pass_changes(services.edit_webhook, "webhook_id"),
        "deleteWebhook": pass_arguments(services.delete_webhook, "webhook_id", payload="deleted_webhook_id"),
        "pingWebhook": pass_arguments(resending.ping_webhook, "webhook_id"),
        "redeliverWebhookDelivery": pass_arguments(resending.redeliver, "delivery_id"),
    },
)
BINDABLES = [
    *(QUERY, MUTATION),
    build_enum(DeliveryState, "WebhookDeliveryState"),
    build_enum(DisabledReason, "WebhookDisabledReason"),
    *build_sort("Webhook", selectors.WEBHOOK_SORT_FIELDS),
    *build_sort("WebhookDelivery", selectors.DELIVERY_SORT_FIELDS),
]


@MUTATION.field("createWebhook")
def create_webhook(_: None, info: Info, input: dict[str, Any]) -> dict[str, Any]:
    return services.create_webhook(actor=info.context["actor"], **input)._asdict()


@MUTATION.field("rotateWebhookSecret")
def rotate_webhook_secret(_: None, info: Info, input: dict[str, Any]) -> dict[str, Any]:
    return services.rotate_secret(actor=info.context["actor"], webhook_id=input["id"])._asdict()


@MUTATION.field("replayWebhook")
def replay_webhook(_: None, info: Info, input: dict[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in input.items() if name != "id"}
    replay = resending.replay_webhook(actor=info.context["actor"], webhook_id=input["id"], **options)
    return replay._asdict()
