"""A request for each operation of schema/openapi.yaml, and the comparison of its response."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Model
from django.test import Client
from django.utils import timezone

from blog.models import Comment, Image, OldSlug, Post, PostStatus
from blog.services.previews import CreatedLink, create_preview_link
from contentapi.core.identity import Role, Scope
from contentapi.events.webhooks.models import Delivery, Webhook
from contentapi.events.webhooks.resending import ping_webhook
from contentapi.events.webhooks.services import create_webhook
from orders.models import Order
from tests.blog.stored_images import make_ready_image
from tests.conftest import make_api_key
from tests.contract.types import collect
from tests.event_log import relay
from tests.factories import make_actor, make_author, make_comment, make_order, make_post, make_user, make_working_copy
from tests.openapi import Operation, find_problems, resolve
from users.models import User

# What a client of this API reads; the others are Django's and the server's.
OUR_HEADERS = re.compile(
    r"X-(API-Version|Request-ID|Error-Code)|RateLimit(-Policy)?|Retry-After|Location|Link|ETag|Idempotent-Replayed"
    r"|Allow|WWW-Authenticate"
)


class Request(NamedTuple):
    """A request. `ids` are the ids in its path, `who` is the caller."""

    ids: Mapping[str, Any] = {}
    body: Any = None
    who: str = "admin"
    query: str = ""
    headers: Mapping[str, str] = {}


class World:
    """An admin, an author and a reader, and one thing of each kind, which is made when it is first named."""

    def __init__(self) -> None:
        author = make_author(email="author@example.invalid", avatar_url="https://www.example.com/a.png", bio="Writes.")
        self.actors = {
            "admin": make_actor(Role.ADMIN),
            "author": make_actor(Role.AUTHOR, author=author),
            "reader": make_actor(Role.READER),
            "without scopes": make_actor(Role.ADMIN, scopes={Scope.POSTS_READ}),
        }
        self.post = make_post(author=author, tags=["sea"])
        make_working_copy(self.post, title="Changed")
        self.others: dict[str, Model] = {name: make(self.post.author.user) for name, make in collect("ROWS").items()}

    def find(self, name: str) -> Model:
        found: Model = self.others.get(name) or getattr(self, name)
        return found

    @cached_property
    def draft(self) -> Post:
        return make_post(author=self.post.author, status=PostStatus.DRAFT)

    @cached_property
    def archived(self) -> Post:
        return make_post(author=self.post.author, status=PostStatus.ARCHIVED)

    @cached_property
    def link(self) -> CreatedLink:
        return create_preview_link(actor=self.actors["author"], post_id=str(self.post.pk))

    @cached_property
    def comment(self) -> Comment:
        return make_comment(self.post)

    @cached_property
    def image(self) -> Image:
        return make_ready_image()

    @cached_property
    def order(self) -> Order:
        return make_order(user=self.post.author.user)

    @cached_property
    def shipped(self) -> Order:
        shipped = {"carrier": "Coastal", "tracking_number": "C1", "shipped_at": timezone.now()}
        return make_order(user=self.post.author.user, status="shipped", **shipped)

    @cached_property
    def user(self) -> User:
        return make_user()

    @cached_property
    def webhook(self) -> Webhook:
        hook: dict[str, Any] = {"name": "Site", "url": "https://hooks.example.com/", "types": ["post.*"]}
        return create_webhook(actor=self.actors["admin"], **hook).webhook

    @cached_property
    def delivery(self) -> Delivery:
        return ping_webhook(actor=self.actors["admin"], webhook_id=str(self.webhook.pk))

    def fill(self) -> None:
        """Make one thing of each kind, and relay its events."""
        for name, made in vars(World).items():
            if isinstance(made, cached_property):
                getattr(self, name)
        relay()


MakeRequest = Callable[[World], Request]


def post_request(**values: Any) -> MakeRequest:
    return lambda world: Request({"post_id": world.post.pk}, **values)


def preview_request(**values: Any) -> MakeRequest:
    return lambda world: Request(**{"headers": {"Preview-Token": world.link.token}, **values})


def slug_request(slug: str) -> MakeRequest:
    def make(world: World) -> Request:
        Post.objects.filter(pk=world.post.pk).update(slug="chosen")
        OldSlug.objects.get_or_create(slug="old", post_id=world.post.pk)
        return Request({"slug": slug})

    return make


def comment_request(**values: Any) -> MakeRequest:
    return lambda world: Request({"post_id": world.post.pk, "comment_id": world.comment.pk}, **values)


def author_request(**values: Any) -> MakeRequest:
    return lambda world: Request({"author_id": world.post.author.pk}, **values)


def image_request(**values: Any) -> MakeRequest:
    return lambda world: Request({"image_id": world.image.pk}, **values)


def order_request(**values: Any) -> MakeRequest:
    return lambda world: Request({"order_id": world.order.pk}, **values)


def shipped_order_request(**values: Any) -> MakeRequest:
    return lambda world: Request({"order_id": world.shipped.pk}, **values)


def webhook_request(**values: Any) -> MakeRequest:
    return lambda world: Request({"webhook_id": world.webhook.pk, "delivery_id": world.delivery.pk}, **values)


def plain_request(**values: Any) -> MakeRequest:
    return lambda _: Request(**values)


NEW_POST = {"title": "Hello", "body": "A first post."}
NEW_WEBHOOK = {"name": "Build", "url": "https://build.example.com/", "types": ["post.*"]}
NEW_USER = {"name": "New", "email": "new@example.invalid"}


def send_request(operation: Operation, request: Request, world: World | None = None) -> Any:
    path = re.sub(r"{(\w+)}", lambda match: str(request.ids[match[1]]), operation.path)
    headers = dict(request.headers)
    if world and request.who:
        headers["X-API-Key"] = make_api_key(world.actors[request.who])
    content = request.body if isinstance(request.body, bytes) else b""
    if request.body is not None and not content:
        content = json.dumps(request.body).encode()
    content_type = headers.pop("Content-Type", "application/json" if content else "")
    client = Client(raise_request_exception=False)
    return client.generic(operation.method, path + request.query, content, content_type=content_type, headers=headers)


def assert_conforms(operation: Operation, status: int, response: Any) -> None:
    """Compare a response with the description of its status: headers, media type and body."""
    assert response.status_code == status, response.content
    described = operation.response(status)
    headers = described.get("headers", {})
    for name, header in ((name, resolve(header)) for name, header in headers.items()):
        assert name in response or not header.get("required"), f"{name} is missing"
        if name in response:
            value = response[name]
            typed = int(value) if resolve(header["schema"])["type"] == "integer" else value
            assert find_problems(header["schema"], typed) == [], name
    assert operation.is_document or response["X-API-Version"] == "1"
    assert {name for name in response.headers if OUR_HEADERS.fullmatch(name)} <= set(headers)
    if "content" not in described:
        assert response.content == b""
        return
    media_type = response["Content-Type"].split(";")[0]
    body = response.content.decode() if media_type.startswith("text/") else json.loads(response.content)
    assert find_problems(described["content"][media_type]["schema"], body) == []
