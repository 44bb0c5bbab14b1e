"""The root fields of webhooks. Each calls one selector or one service."""

from ariadne import MutationType, QueryType

from contentapi.events.webhooks import resending, selectors, services
from contentapi.events.webhooks.models import DeliveryState, DisabledReason
from contentapi.graphql.root_fields import bind_fields, build_enum, build_sort, pass_arguments, pass_changes, pass_id

QUERY = bind_fields(
    QueryType(),
    {
        "webhook": pass_id(selectors.select_webhook_by_id),
        "webhooks": pass_arguments(selectors.select_webhooks_page),
        "webhookDelivery": pass_id(selectors.select_delivery_by_id),
    },
)
MUTATION = bind_fields(
    MutationType(),
    {
        "createWebhook": pass_arguments(services.create_webhook),
        "updateWebhook": pass_changes(services.edit_webhook, "webhook_id"),
        "deleteWebhook": pass_arguments(services.delete_webhook, "webhook_id", payload="deleted_webhook_id"),
        "rotateWebhookSecret": pass_arguments(services.rotate_secret, "webhook_id"),
        "replayWebhook": pass_arguments(resending.replay_webhook, "webhook_id"),
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
