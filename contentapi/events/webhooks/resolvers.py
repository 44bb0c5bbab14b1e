"""Resolvers of the GraphQL fields of webhooks. Each function calls one selector or one service."""

from typing import Any

from ariadne import EnumType, InputType, MutationType, QueryType
from graphql import GraphQLResolveInfo

from contentapi.events.webhooks import resending, selectors, services
from contentapi.events.webhooks.models import Delivery, DeliveryState, DisabledReason, Webhook
from contentapi.graphql.context import RequestContext
from contentapi.graphql.sorting import build_ordering
from contentapi.projection import ConnectionQuery, Ordering, Rows

Info = GraphQLResolveInfo[RequestContext]

QUERY = QueryType()
MUTATION = MutationType()
BINDABLES = [
    *(QUERY, MUTATION),
    EnumType("WebhookDeliveryState", {state.value: state for state in DeliveryState}),
    EnumType("WebhookDisabledReason", {reason.value: reason for reason in DisabledReason}),
    *(EnumType("WebhookSortField", selectors.WEBHOOK_SORT_FIELDS), InputType("WebhookSort", out_type=build_ordering)),
    EnumType("WebhookDeliverySortField", selectors.DELIVERY_SORT_FIELDS),
    InputType("WebhookDeliverySort", out_type=build_ordering),
]


@QUERY.field("webhook")
def webhook(_: None, info: Info, id: str) -> Rows[Webhook]:
    return selectors.select_webhook_by_id(info.context["actor"], id)


@QUERY.field("webhooks")
def webhooks(_: None, info: Info, order_by: Ordering | None = None, **window: Any) -> ConnectionQuery:
    return selectors.build_webhooks_connection(info.context["actor"], order_by=order_by, **window)


@QUERY.field("webhookDelivery")
def webhook_delivery(_: None, info: Info, id: str) -> Rows[Delivery]:
    return selectors.select_delivery_by_id(info.context["actor"], id)


@MUTATION.field("createWebhook")
def create_webhook(_: None, info: Info, input: dict[str, Any]) -> dict[str, Any]:
    return services.create_webhook(actor=info.context["actor"], **input)._asdict()


@MUTATION.field("updateWebhook")
def update_webhook(_: None, info: Info, input: dict[str, Any]) -> Webhook:
    changes = {name: value for name, value in input.items() if name not in ("id", "expected_version")}
    version = input.get("expected_version")
    return services.edit_webhook(
        actor=info.context["actor"], webhook_id=input["id"], changes=changes, expected_version=version
    )


@MUTATION.field("deleteWebhook")
def delete_webhook(_: None, info: Info, input: dict[str, Any]) -> dict[str, str]:
    version = input.get("expected_version")
    deleted = services.delete_webhook(actor=info.context["actor"], webhook_id=input["id"], expected_version=version)
    return {"deleted_webhook_id": deleted}


@MUTATION.field("rotateWebhookSecret")
def rotate_webhook_secret(_: None, info: Info, input: dict[str, Any]) -> dict[str, Any]:
    return services.rotate_secret(actor=info.context["actor"], webhook_id=input["id"])._asdict()


@MUTATION.field("pingWebhook")
def ping_webhook(_: None, info: Info, input: dict[str, Any]) -> Delivery:
    return resending.ping_webhook(actor=info.context["actor"], webhook_id=input["id"])


@MUTATION.field("replayWebhook")
def replay_webhook(_: None, info: Info, input: dict[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in input.items() if name != "id"}
    replay = resending.replay_webhook(actor=info.context["actor"], webhook_id=input["id"], **options)
    return replay._asdict()


@MUTATION.field("redeliverWebhookDelivery")
def redeliver_webhook_delivery(_: None, info: Info, input: dict[str, Any]) -> Delivery:
    return resending.redeliver(actor=info.context["actor"], delivery_id=input["id"])
