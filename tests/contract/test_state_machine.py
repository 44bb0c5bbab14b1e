"""The whole API against a small model of it: acts in any order, by anybody, on both faces at will."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import orders.services
from blog.models import Author
from contentapi import rate_limits
from contentapi.core.errors import ApiError
from contentapi.core.identity import OPERATOR, Actor, Role
from tests.conftest import api_key_of
from tests.factories import make_actor, make_author, make_comment, make_order, make_post
from tests.resources import Reply, ask
from tests.thoroughness import examples

NO_ID = 10**12
LATER = datetime(2100, 1, 1, tzinfo=UTC).isoformat()
MOVES = {
    "draft": {"scheduled", "published", "archived"},
    "scheduled": {"draft", "published"},
    "published": {"draft", "archived"},
    "archived": {"draft"},
}
MUTATIONS = {"published": "publishPost", "draft": "unpublishPost", "archived": "archivePost"}
ROLES = {"reader": Role.READER, "ann": Role.AUTHOR, "bob": Role.AUTHOR, "editor": Role.EDITOR, "admin": Role.ADMIN}
WRITERS, EDITORS = {"ann", "bob", "editor", "admin"}, {"editor", "admin"}

T = TypeVar("T")
ASKERS = st.sampled_from(["anonymous", *ROLES])
FACES = st.sampled_from(["graphql", "rest"])
PLACES = st.integers(0, 99)  # of a thing in its list, round and round; one past the end: nothing
STATES = st.sampled_from(list(MOVES))
TITLES = st.sampled_from(["Tides", "Öland", "  Boats ", " "])


@dataclass
class Comment:
    id: int
    owner: str
    gone: bool = False


@dataclass
class Post:
    id: int
    owner: str
    title: str
    status: str
    version: int = 1
    comments: list[Comment] = field(default_factory=list)
    gone: bool = False

    def is_visible_to(self, asker: str) -> bool:
        is_theirs = asker in EDITORS or (asker in WRITERS and asker == self.owner)
        return not self.gone and (self.status == "published" or is_theirs)

    def is_writable_by(self, asker: str) -> bool:
        return asker in EDITORS or (asker in WRITERS and asker == self.owner)


NO_POST = Post(NO_ID, "", "", "draft", gone=True)


@dataclass
class Order:
    id: int
    owner: str
    status: str = "pending"

    def is_visible_to(self, asker: str) -> bool:
        return asker in (self.owner, "admin")


@dataclass
class User:
    id: int
    email: str
    gone: bool = False


def at(things: list[T], place: int, nothing: T) -> T:
    return [*things, nothing][place % (len(things) + 1)]


class Api(RuleBasedStateMachine):
    """What the API should hold, beside what it does hold."""

    def __init__(self) -> None:
        super().__init__()
        self.undone = transaction.atomic()
        self.undone.__enter__()
        authors = {"ann": make_author(), "bob": make_author()}
        self.actors: dict[str, Actor] = {
            name: make_actor(role, author=authors.get(name)) for name, role in ROLES.items()
        }
        self.keys = {name: api_key_of(actor) for name, actor in self.actors.items()}
        self.posts = [self.post(owner, author, status) for owner, author in authors.items() for status in MOVES]
        self.orders = [Order(make_order(user_id=self.actors["reader"].user_id).pk, "reader")]
        self.users: list[User] = []  # those made here

    def post(self, owner: str, author: Author, status: str) -> Post:
        row = make_post(
            title="Tides", author=author, status=status, publish_at=LATER if status == "scheduled" else None
        )
        return Post(row.pk, owner, "Tides", status, comments=[Comment(make_comment(row).pk, owner)])

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.undone.__exit__(None, None, None)

    # How a client asks

    def ask(self, asker: str, method: str, path: str, body: Any = None) -> Reply:
        rate_limits.reset_counters()
        return ask(method, path, body, **({"X_API_Key": self.keys[asker]} if asker in self.keys else {}))  # type: ignore[arg-type]

    def gql(self, asker: str, document: str, **variables: Any) -> tuple[int, Any]:
        """Return the status and the value of the one root field."""
        reply = self.ask(asker, "POST", "/graphql", {"query": document, "variables": variables})
        return reply.status, next(iter((reply.body.get("data") or {"": None}).values()))

    def expect(self, told: int, asker: str, *conditions: tuple[bool, int]) -> bool:
        """Compare a status with the first condition that is not met, and say whether all of them are."""
        wanted = next((status for met, status in ((asker != "anonymous", 401), *conditions) if not met), None)
        if wanted is None:
            assert told in (200, 201, 204), told
        else:
            assert told == wanted
        return wanted is None

    def post_at(self, place: int) -> Post:
        return at(self.posts, place, NO_POST)

    # Posts

    @rule(asker=ASKERS, face=FACES, title=TITLES, status=STATES)
    def create_post(self, asker: str, face: str, title: str, status: str) -> None:
        given = {
            "title": title,
            "body": "",
            "status": status,
            **({"publishAt": LATER} if status == "scheduled" else {}),
        }
        if face == "rest":
            reply = self.ask(asker, "POST", "/posts", given)
            told, made = reply.status, reply.body
        else:
            document = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id title status } }"
            told, made = self.gql(asker, document, input=given)

        if self.expect(told, asker, (asker in WRITERS, 403), (bool(title.strip()), 422)):
            self.posts.append(Post(int(made["id"]), asker, title.strip(), status))
            assert (made["title"], made["status"]) == (title.strip(), status)

    @rule(asker=ASKERS, face=FACES, place=PLACES, title=TITLES, version=st.sampled_from(["none", "right", "wrong"]))
    def update_post(self, asker: str, face: str, place: int, title: str, version: str) -> None:
        post = self.post_at(place)
        expected = {"none": {}, "right": {"expectedVersion": str(post.version)}, "wrong": {"expectedVersion": "99"}}
        given = {"title": title, **expected[version]}
        if face == "rest":
            told = self.ask(asker, "PATCH", f"/posts/{post.id}", given).status
        else:
            document = "mutation ($input: UpdatePostInput!) { updatePost(input: $input) { id } }"
            told, _ = self.gql(asker, document, input={"id": post.id, **given})

        conditions = ((post.is_visible_to(asker), 404), (post.is_writable_by(asker), 403), (version != "wrong", 409))
        if self.expect(told, asker, *conditions, (bool(title.strip()), 422)):
            post.version += title.strip() != post.title
            post.title = title.strip()

    @rule(asker=ASKERS, face=FACES, place=PLACES, status=STATES)
    def move_post(self, asker: str, face: str, place: int, status: str) -> None:
        post = self.post_at(place)
        time = {"publishAt": LATER} if status == "scheduled" else {}
        if face == "rest":
            told = self.ask(asker, "PATCH", f"/posts/{post.id}", {"status": status, **time}).status
        elif status == "scheduled":
            document = "mutation ($input: SchedulePostInput!) { schedulePost(input: $input) { id } }"
            told, _ = self.gql(asker, document, input={"id": post.id, **time})
        else:
            told, _ = self.gql(asker, f"mutation ($id: ID!) {{ {MUTATIONS[status]}(id: $id) {{ id }} }}", id=post.id)

        is_legal = status == post.status or status in MOVES[post.status]
        conditions = ((post.is_visible_to(asker), 404), (post.is_writable_by(asker), 403), (is_legal, 409))
        if self.expect(told, asker, *conditions):
            post.version += status != post.status
            post.status = status

    @rule(asker=ASKERS, face=FACES, place=PLACES)
    def delete_post(self, asker: str, face: str, place: int) -> None:
        post = self.post_at(place)
        if face == "rest":
            told = self.ask(asker, "DELETE", f"/posts/{post.id}").status
        else:
            told, _ = self.gql(asker, "mutation ($id: ID!) { deletePost(id: $id) }", id=post.id)

        if self.expect(told, asker, (post.is_visible_to(asker), 404), (post.is_writable_by(asker), 403)):
            post.gone = True

    @rule(asker=ASKERS, face=FACES, place=PLACES)
    def read_post(self, asker: str, face: str, place: int) -> None:
        post = self.post_at(place)
        if face == "rest":
            reply = self.ask(asker, "GET", f"/posts/{post.id}")
            found = reply.body if reply.status == 200 else None
        else:
            document = "query ($id: ID!) { post(id: $id) { title status version commentCount } }"
            _, found = self.gql(asker, document, id=post.id)

        assert (found is not None) == post.is_visible_to(asker)
        if found:
            here = [comment for comment in post.comments if not comment.gone]
            assert (found["title"], found["status"], found["commentCount"]) == (post.title, post.status, len(here))
            assert found.get("version", str(post.version)) == str(post.version)

    @rule(asker=ASKERS, face=FACES, status=st.none() | STATES)
    def list_posts(self, asker: str, face: str, status: str | None) -> None:
        if face == "rest":
            query = f"?limit=100&status={status}" if status else "?limit=100"
            listed = self.ask(asker, "GET", f"/posts{query}").body["data"]
        else:
            document = "query ($status: PostStatus) { posts(limit: 100, status: $status) { id } }"
            _, listed = self.gql(asker, document, status=status)

        seen = [post.id for post in self.posts if post.is_visible_to(asker) and status in (None, post.status)]
        assert [int(post["id"]) for post in listed] == seen[::-1]

    # Comments

    @rule(asker=ASKERS, face=FACES, place=PLACES)
    def comment(self, asker: str, face: str, place: int) -> None:
        post = self.post_at(place)
        if face == "rest":
            reply = self.ask(asker, "POST", f"/posts/{post.id}/comments", {"body": "Hear!"})
            told, made = reply.status, reply.body
        else:
            document = "mutation ($input: AddCommentInput!) { addComment(input: $input) { id } }"
            told, made = self.gql(asker, document, input={"postId": post.id, "body": "Hear!"})

        if self.expect(told, asker, (post.is_visible_to(asker), 404)):
            post.comments.append(Comment(int(made["id"]), asker))

    @rule(asker=ASKERS, face=FACES, place=PLACES, which=PLACES)
    def delete_comment(self, asker: str, face: str, place: int, which: int) -> None:
        post = self.post_at(place)
        comment = at(post.comments, which, Comment(NO_ID, "", gone=True))
        if face == "rest":
            told = self.ask(asker, "DELETE", f"/posts/{post.id}/comments/{comment.id}").status
        else:
            told, _ = self.gql(asker, "mutation ($id: ID!) { deleteComment(id: $id) }", id=comment.id)

        is_there = post.is_visible_to(asker) and not comment.gone
        if self.expect(told, asker, (is_there, 404), (comment.owner == asker or post.is_writable_by(asker), 403)):
            comment.gone = True

    # Orders

    def order_at(self, place: int) -> Order:
        return at(self.orders, place, Order(NO_ID, ""))

    @rule(asker=ASKERS, total=st.sampled_from([18.5, 0, 0.001]))
    def create_order(self, asker: str, total: float) -> None:
        reply = self.ask(asker, "POST", "/orders", {"total": total})

        if self.expect(reply.status, asker, (total == 18.5, 422)):
            self.orders.append(Order(reply.body["id"], asker))
            assert list(reply.body["_links"]) == ["self", "cancel", "payment"]

    @rule(asker=ASKERS, place=PLACES, act=st.sampled_from(["pay", "cancel"]))
    def pay_or_cancel_order(self, asker: str, place: int, act: str) -> None:
        order = self.order_at(place)
        becomes = "paid" if act == "pay" else "cancelled"
        method, path = ("POST", "/payment") if act == "pay" else ("DELETE", "")

        told = self.ask(asker, method, f"/orders/{order.id}{path}").status

        is_legal = order.status == "pending" or order.status == becomes == "cancelled"
        if self.expect(told, asker, (order.id != NO_ID and order.is_visible_to(asker), 404), (is_legal, 409)):
            order.status = becomes

    @rule(place=PLACES, act=st.sampled_from(["ship", "deliver"]))
    def ship_or_deliver_order(self, place: int, act: str) -> None:
        order = self.order_at(place)
        before, becomes = {"ship": ("paid", "shipped"), "deliver": ("shipped", "delivered")}[act]
        tracking = {"carrier": "C", "tracking_number": "T"} if act == "ship" else {}
        try:
            getattr(orders.services, f"{act}_order")(actor=OPERATOR, order_id=str(order.id), **tracking)
            told = 200
        except ApiError as refusal:
            told = refusal.status

        if self.expect(told, "operator", (order.id != NO_ID, 404), (order.status == before, 409)):
            order.status = becomes

    @rule(asker=ASKERS, place=PLACES)
    def read_order_and_its_tracking(self, asker: str, place: int) -> None:
        order = self.order_at(place)
        reply, tracking = (self.ask(asker, "GET", f"/orders/{order.id}{path}") for path in ("", "/tracking"))

        is_there = order.id != NO_ID and order.is_visible_to(asker)
        assert reply.status == (200 if is_there else 404)
        on_its_way = order.status in ("shipped", "delivered")
        assert tracking.status == ((200 if on_its_way else 409) if is_there else 404)
        if is_there:
            links = ["cancel", "payment"] if order.status == "pending" else ["track"] if on_its_way else []
            assert (reply.body["status"], list(reply.body["_links"])) == (order.status, ["self", *links])

    # Users

    @rule(
        asker=ASKERS, email=st.sampled_from(["new@example.invalid", "NEW@example.invalid", "other@example.invalid", ""])
    )
    def create_user(self, asker: str, email: str) -> None:
        reply = self.ask(asker, "POST", "/users", {"name": "New", "email": email})

        is_taken = any(user.email == email.lower() and not user.gone for user in self.users)
        conditions = ((asker == "admin", 403), (bool(email), 422), (not is_taken, 409))
        if self.expect(reply.status, asker, *conditions):
            assert reply.body == {"id": reply.body["id"], "name": "New", "email": email}
            assert reply.headers["Location"] == f"/users/{reply.body['id']}"
            self.users.append(User(reply.body["id"], email.lower()))

    @rule(asker=ASKERS, place=PLACES)
    def read_and_delete_user(self, asker: str, place: int) -> None:
        user = at(self.users, place, User(NO_ID, "", gone=True))

        found = self.ask(asker, "GET", f"/users/{user.id}").status
        deleted = self.ask(asker, "DELETE", f"/users/{user.id}").status

        is_there = not user.gone and asker == "admin"
        assert found == (200 if is_there else 404)
        if self.expect(deleted, asker, (is_there, 404)):
            user.gone = True

    @rule(asker=ASKERS)
    def ask_who_asks(self, asker: str) -> None:
        status, viewer = self.gql(asker, "{ viewer { user { id } role } }")

        assert status == 200
        assert (viewer is None) == (asker == "anonymous")
        if viewer:
            assert viewer == {"user": {"id": str(self.actors[asker].user_id)}, "role": ROLES[asker].value}


@pytest.mark.property
@pytest.mark.django_db
def test_the_api_holds_what_a_small_model_of_it_holds() -> None:
    run_state_machine_as_test(
        Api,
        settings=settings(
            max_examples=examples(72), stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
