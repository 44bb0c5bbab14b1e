"""A preview token shows nothing of other hidden objects: in no field of the SDL, and at no path of REST.

All that is hidden from the token is changed. Every read with the token then has the same response as before.
"""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from threading import Event
from typing import Any

import msgspec
import pytest
from django.test import Client
from django.utils import timezone
from graphql import GraphQLField, GraphQLObjectType, get_named_type, is_leaf_type
from pytest_django import Settings

from blog import services
from blog.models import Comment, CommentState, Image, Post, PostStatus
from blog.search.indexing import SearchIndexer
from contentapi.core.identity import OPERATOR, WORKER, Actor, Role
from contentapi.events.webhooks.models import Delivery, DeliveryState
from contentapi.schema import SCHEMA
from orders.models import Order
from tests.blog.post_copies import save
from tests.blog.post_versions import edit
from tests.blog.preview_requests import make_link
from tests.blog.stored_images import make_ready_image
from tests.conftest import make_api_key
from tests.contract.own_types import OWN_NAMES
from tests.factories import make_actor, make_author, make_comment, make_image, make_order, make_post, make_user
from tests.openapi import OPERATIONS
from tests.webhook_rows import make_delivery, make_webhook
from users.models import User

LATER = timezone.now() + timedelta(days=30)
Ids = dict[str, list[int]]  # by the names of parameters in paths
TYPES = {  # that are nodes, by the names of the parameters for their ids
    "post_id": "Post",
    "comment_id": "Comment",
    "author_id": "Author",
    "order_id": "Order",
    "user_id": "User",
    "link_id": "PreviewLink",
    "image_id": "Image",
    "webhook_id": "Webhook",
    "delivery_id": "WebhookDelivery",
}
DEPTH = 3  # of objects below a root field
PAGE = {"limit", "first"}  # arguments that keep a page small
FIELDS = SCHEMA.query_type.fields if SCHEMA.query_type else {}
ROOTS = {name: field for name, field in FIELDS.items() if name not in OWN_NAMES}  # there are no rows of own types
WORDS = ("secret", "shown", "public")
SLUGS = [f"{word}-{number}" for word in WORDS for number in range(4)]
VALUES: dict[str, list[Any]] = {  # of arguments by their names; ids are those of every object
    "slug": SLUGS,
    "status": [None, *PostStatus.values],
    "filter": [
        *({"search": word} for word in WORDS),
        *({"tag": word} for word in WORDS),
        *({"status": status} for status in PostStatus.values),
        None,
    ],
}
PARAMETERS = ["", "?offset=0", *(f"?tag={word}" for word in WORDS), *(f"?search={word}&offset=0" for word in WORDS)]
PARAMETERS += [f"?status={status}&offset=0" for status in PostStatus.values]


class World:
    """A post that a token shows, public things, and hidden things of each kind; those that a token must not show."""

    def __init__(self) -> None:
        self.author = make_author(name="Ines", user=make_user(Role.AUTHOR))
        self.coauthor = make_author(name="Jon")
        self.public = self.make_post("public", 0)
        self.shown = self.make_post("shown", 1, status=PostStatus.DRAFT)
        self.hidden = [
            self.make_post("secret", number, status=status, publish_at=LATER if status == "scheduled" else None)
            for number, status in enumerate(["draft", "scheduled", "archived"])
        ]
        save(self.public, title="secret", slug="secret-3", tags=["secret"])
        edit(self.shown, title="secret, earlier")
        edit(self.shown, title="shown")
        for post in (self.public, self.shown):
            make_comment(post, body="public")
            make_hidden_comment(post)
        self.comments = [make_comment(post, body="secret") for post in self.hidden]
        self.images = [make_ready_image(), make_image(name="secret", alt="secret")]
        Post.objects.filter(pk=self.public.pk).update(cover_id=self.images[0].pk)
        Post.objects.filter(pk=self.hidden[0].pk).update(cover_id=self.images[0].pk)
        Post.objects.filter(pk=self.hidden[1].pk).update(cover_id=self.images[1].pk)
        self.order, self.user = make_order(), make_user(name="secret", email="secret@example.invalid")
        self.editor = make_actor(Role.EDITOR)
        self.links = [make_link(post, self.editor, note="secret") for post in [*self.hidden, self.public]]
        self.delivery = make_delivery(make_webhook(self.user, name="secret"), subject_id=self.hidden[0].pk)
        SearchIndexer().update(Event(), actor=WORKER)

    def make_post(self, word: str, number: int, **values: Any) -> Post:
        texts = {"title": f"{word} title", "body": f"{word} text", "slug": f"{word}-{number}", "tags": [word]}
        return make_post(author=self.author, coauthor_ids=[self.coauthor.pk], **texts, **values)

    def change_what_is_hidden(self) -> None:
        """Change hidden values, and the number of hidden things. The clock alone changes what is public."""
        for post in self.hidden:
            edit(post, title="another secret", body="*secret* too", tags=["secret", "more"])
            edit(post, slug=f"{post.slug}-moved")
            save(post, title="secret", excerpt="secret")
            make_comment(post, body="one more secret")
        save(self.public, title="more secret", body="more secret", slug="secret-4", description="secret")
        services.revoke_preview_link(actor=self.editor, link_id=str(self.links[0].preview_link.pk))
        make_link(self.public, self.editor, note="one more")
        self.make_post("secret", 7, status=PostStatus.DRAFT)
        Post.objects.filter(pk=self.hidden[2].pk).update(cover_id=self.images[0].pk)
        Image.objects.filter(pk=self.images[1].pk).update(alt="changed")
        Comment.objects.filter(state=CommentState.HIDDEN).update(body="changed")
        make_hidden_comment(self.shown)
        services.delete_post(actor=OPERATOR, post_id=str(self.hidden[2].pk))
        Delivery.objects.update(state=DeliveryState.CANCELLED, error="secret")
        User.objects.filter(pk=self.user.pk).update(name="changed", email="changed@example.invalid")
        Order.objects.filter(pk=self.order.pk).update(total="9.99")
        SearchIndexer().update(Event(), actor=WORKER)

    def list_ids(self) -> dict[str, list[int]]:
        """Return the ids of all things, by the names of their parameters in paths."""
        return {
            "post_id": [post.pk for post in (self.public, self.shown, *self.hidden)],
            "comment_id": [*Comment.objects.order_by("pk").values_list("pk", flat=True)],
            "author_id": [self.author.pk],
            "order_id": [self.order.pk],
            "user_id": [self.user.pk],
            "link_id": [self.links[0].preview_link.pk],
            "image_id": [image.pk for image in self.images],
            "webhook_id": [self.delivery.webhook_id],
            "delivery_id": [self.delivery.pk],
            "webhookDelivery_id": [self.delivery.pk],
        }


def make_hidden_comment(post: Post) -> Comment:
    return make_comment(post, body="secret", state=CommentState.HIDDEN, state_changed_at=timezone.now())


def select_everything(kind: Any, depth: int, type_name: str = "") -> str:
    """Return the selection of all fields of a type, to a depth; of an interface, those of one or of all its types."""
    named = get_named_type(kind)
    if is_leaf_type(named):
        return ""
    if not isinstance(named, GraphQLObjectType):
        kinds = [SCHEMA.type_map[type_name]] if type_name else SCHEMA.get_possible_types(named)
        parts = [f"... on {kind} {select_everything(kind, depth)}" for kind in kinds]
        return f"{{ __typename {' '.join(parts)} }}"
    fields = [select_field(name, field, depth) for name, field in named.fields.items()]
    return f"{{ __typename {' '.join(fields)} }}"


def select_field(name: str, field: GraphQLField, depth: int) -> str:
    if not is_leaf_type(get_named_type(field.type)) and depth == 0:
        return ""
    pages = sorted(PAGE & field.args.keys())
    arguments = f"({pages[0]}: 2)" if pages else ""
    # An edge and its node are one step: they have no cost of their own.
    below = depth if name in ("edges", "node") else depth - 1
    return f"{name}{arguments} {select_everything(field.type, below)}".rstrip()


def list_documents(ids: Ids) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each root field of the SDL as a document, with each of its possible arguments as variables.

    So a document is compiled once, however many objects it is sent for.
    """
    for name, field in ROOTS.items():
        for pool, type_name in TYPES.items() if name in ("node", "nodes") else [(f"{name}_id", "")]:
            given = {argument: list_values(argument, ids.get(pool, [])) for argument in field.args}
            given = {argument: values for argument, values in given.items() if values}
            declared = ", ".join(f"${argument}: {field.args[argument].type}" for argument in given)
            passed = ", ".join(f"{argument}: ${argument}" for argument in given)
            root = f"{name}{f'({passed})' if passed else ''} {select_everything(field.type, DEPTH - 1, type_name)}"
            for values in product(*given.values()):
                yield f"query{f'({declared})' if declared else ''} {{ {root} }}", dict(zip(given, values, strict=True))


def list_values(argument: str, ids: list[int]) -> list[Any]:
    if argument == "id":
        return [str(each) for each in ids]
    if argument == "ids":
        return [[str(each) for each in ids]]
    if argument in PAGE:
        return [5]
    return VALUES.get(argument, [])


def list_paths(ids: Ids) -> Iterator[str]:
    """Yield each path of the API that can be read, with each id in each place, and with each filter.

    There are no rows of the own types of a project.
    """
    reads = [operation for operation in OPERATIONS.values() if operation.method == "GET" and not operation.is_document]
    for operation in reads:
        names = re.findall(r"{(\w+)}", operation.path)
        pools = [SLUGS if name == "slug" else ids.get(name, []) for name in names]
        for values in product(*pools):
            path = operation.path.format(**dict(zip(names, values, strict=True)))
            yield from (f"{path}{more}" for more in (PARAMETERS if path.endswith("/posts") else [""]))


def read_everything(ids: Ids, headers: dict[str, str]) -> dict[str, Any]:
    """Return the status and the body of every read, by its root field, variables and document, or by its path."""
    client = Client(raise_request_exception=False, headers=headers)
    found: dict[str, Any] = {}
    for document, variables in list_documents(ids):
        sent = {"query": document, "variables": variables}
        response = client.post("/graphql", sent, content_type="application/json")
        root = document.partition("{ ")[2].partition(" ")[0].partition("(")[0]
        read = f"{root} {json.dumps(variables)} {document}"
        found[read] = (response.status_code, hide_request_id(response.content.decode()))
    for path in list_paths(ids):
        response = client.get(path)
        found[path] = (response.status_code, response.headers.get("Location"), response.content.decode())
    return found


def hide_request_id(body: str) -> str:
    return re.sub(r'"requestId":"\w+"', "", body)


@pytest.fixture(autouse=True)
def without_rate_limits(settings: Settings) -> None:
    limits = dict.fromkeys(("anonymous", "authenticated", "previews"), "100000000/second")
    changes: dict[str, Any] = {f"contentapi_rate_{name}": text for name, text in limits.items()}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **changes)


@pytest.mark.thorough
def test_reads_do_not_depend_on_what_is_hidden_from_the_token() -> None:
    world = World()
    tokens = [make_link(world.shown, world.editor, **mode) for mode in ({}, {"mode": "version", "version": "3"})]
    reader: Actor = make_actor(Role.READER)
    callers = [
        {"Preview-Token": tokens[0].token},
        {"Preview-Token": tokens[1].token, "X-API-Key": make_api_key(reader)},
    ]
    ids = world.list_ids()
    before = [read_everything(ids, headers) for headers in callers]
    editor = {"X-API-Key": make_api_key(world.editor)}
    of_editor = read_everything(ids, editor)

    world.change_what_is_hidden()

    for headers, earlier in zip(callers, before, strict=True):
        for read, response in read_everything(ids, headers).items():
            assert response == earlier[read], read
            assert "secret" not in str(response[1:]), read
    # The reads find what is hidden, if the caller may see it, and none is malformed. Streams have their own process.
    assert {read for read, response in of_editor.items() if response[0] == 400} == {"/events/stream"}
    after = read_everything(ids, editor)
    differing = {read for read, response in of_editor.items() if after[read] != response}
    assert {"/posts", "/posts?search=secret&offset=0", f"/posts/{world.hidden[0].pk}"} <= differing
    assert {"post", "posts", "node", "author"} <= {read.partition(" ")[0] for read in differing}


@pytest.mark.thorough
def test_public_reads_are_those_without_a_token_but_for_its_post() -> None:
    world = World()
    token = make_link(world.shown, world.editor).token
    ids = world.list_ids()
    ids["post_id"].remove(world.shown.pk)
    own = {str(number) for number in Comment.objects.filter(post=world.shown).values_list("pk", flat=True)}

    anonymous, with_token = (read_everything(ids, headers) for headers in ({}, {"Preview-Token": token}))

    differing = {read for read, response in with_token.items() if anonymous[read] != response}
    expected = re.compile(
        rf'(post|preview|nodes|postBySlug \{{"slug": "shown-1"\}}|(comment|node) \{{"id": "({"|".join(own)})"\}}) .*'
        r"|/preview|/posts/by-slug/shown-1|/posts/\d+/comments/.*",
        re.DOTALL,
    )
    assert [read for read in differing if not expected.fullmatch(read)] == []
