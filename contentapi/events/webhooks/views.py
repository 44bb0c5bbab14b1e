"""REST resources of webhooks. Each method reads the request and calls one selector or service."""

import msgspec
from msgspec import UNSET, UnsetType

from contentapi.core.identity import Scope
from contentapi.events.webhooks import resending, selectors, services
from contentapi.events.webhooks.projections import DELIVERY, WEBHOOK
from contentapi.http.body import WholeNumber
from contentapi.http.response import OK, Response, created, no_content
from contentapi.rest import Body, EmptyBody, Resource, ResourceRequest
from contentapi.rest.representations import VERSION, Representation

WEBHOOKS = Representation(WEBHOOK, version=VERSION)
DELIVERIES = Representation(DELIVERY, noun="delivery")
REPRESENTATIONS = [WEBHOOKS, DELIVERIES]


class NewWebhook(Body):
    name: str
    url: str
    types: list[str]
    selection: str | None = None
    coalesce: WholeNumber | None = None
    scopes: list[Scope] | None = None


class WebhookChanges(Body):
    name: str | UnsetType | None = UNSET
    url: str | UnsetType | None = UNSET
    types: list[str] | UnsetType | None = UNSET
    selection: str | UnsetType | None = UNSET
    coalesce: WholeNumber | UnsetType | None = UNSET
    scopes: list[Scope] | UnsetType | None = UNSET
    enabled: bool | UnsetType | None = UNSET
    expected_version: str | None = None


class NewReplay(Body):
    after: str | None = None
    to: str | None = None
    types: list[str] | None = None
    only_failed: bool = False


class WebhookCollection(Resource, is_private=True, shows=WEBHOOKS):
    def get(self, request: ResourceRequest) -> Response:
        page = request.page()
        return request.shown.page(selectors.select_webhooks(request.actor, page.after), page, request.actor)

    def post(self, request: ResourceRequest) -> Response:
        made = services.create_webhook(actor=request.actor, **request.body(NewWebhook).provided())
        response = request.shown.extend(made.webhook, request.actor, secret=made.secret)
        return created(f"/webhooks/{made.webhook.pk}", response)


class WebhookResource(Resource, is_private=True, shows=WEBHOOKS):
    def get(self, request: ResourceRequest, webhook_id: str) -> Response:
        return request.shown.one(selectors.select_webhook_by_id(request.actor, webhook_id), request.actor)

    def patch(self, request: ResourceRequest, webhook_id: str) -> Response:
        changes = request.body(WebhookChanges).provided()
        version = request.expected_version(changes.pop("expected_version"))
        webhook = services.edit_webhook(
            actor=request.actor, webhook_id=webhook_id, changes=changes, expected_version=version
        )
        return request.shown.of(webhook, request.actor)

    def delete(self, request: ResourceRequest, webhook_id: str) -> Response:
        version = request.expected_version()
        services.delete_webhook(actor=request.actor, webhook_id=webhook_id, expected_version=version)
        return no_content()


class DeliveryCollection(Resource, is_private=True, shows=DELIVERIES):
    def get(self, request: ResourceRequest, webhook_id: str) -> Response:
        page = request.page("state", has_offset=False)
        webhook = selectors.select_webhook_by_id(request.actor, webhook_id)
        state = page.filters.get("state")
        deliveries = selectors.select_deliveries(request.actor, webhook_id, state=state, after=page.after)
        return request.shown.page(deliveries, page, request.actor, within=webhook)


class DeliveryResource(Resource, is_private=True, shows=DELIVERIES):
    def get(self, request: ResourceRequest, webhook_id: str, delivery_id: str) -> Response:
        delivery = selectors.select_delivery_by_id(request.actor, delivery_id, webhook_id=webhook_id)
        return request.shown.one(delivery, request.actor)


class RedeliverResource(Resource, shows=DELIVERIES):
    def post(self, request: ResourceRequest, webhook_id: str, delivery_id: str) -> Response:
        request.body_if_any(EmptyBody)
        delivery = resending.redeliver(actor=request.actor, delivery_id=delivery_id, webhook_id=webhook_id)
        return request.shown.of(delivery, request.actor)


class PingResource(Resource, shows=DELIVERIES):
    def post(self, request: ResourceRequest, webhook_id: str) -> Response:
        request.body_if_any(EmptyBody)
        ping = resending.ping_webhook(actor=request.actor, webhook_id=webhook_id)
        return created(f"/webhooks/{webhook_id}/deliveries/{ping.pk}", request.shown.of(ping, request.actor))


class ReplayResource(Resource):
    def post(self, request: ResourceRequest, webhook_id: str) -> Response:
        options = request.body_if_any(NewReplay).provided()
        replay = resending.replay_webhook(actor=request.actor, webhook_id=webhook_id, **options)
        return Response(OK, msgspec.json.encode({"deliveryCount": replay.delivery_count}))


class SecretCollection(Resource, shows=WEBHOOKS):
    def post(self, request: ResourceRequest, webhook_id: str) -> Response:
        request.body_if_any(EmptyBody)
        version = request.expected_version()
        made = services.rotate_secret(actor=request.actor, webhook_id=webhook_id, expected_version=version)
        return request.shown.extend(made.webhook, request.actor, secret=made.secret)


DELIVERY_PATH = "webhooks/<str:webhook_id>/deliveries/<str:delivery_id>"
RESOURCES = {
    "webhooks": WebhookCollection,
    "webhooks/<str:webhook_id>": WebhookResource,
    "webhooks/<str:webhook_id>/deliveries": DeliveryCollection,
    DELIVERY_PATH: DeliveryResource,
    f"{DELIVERY_PATH}/redeliver": RedeliverResource,
    "webhooks/<str:webhook_id>/ping": PingResource,
    "webhooks/<str:webhook_id>/replay": ReplayResource,
    "webhooks/<str:webhook_id>/secrets": SecretCollection,
}
