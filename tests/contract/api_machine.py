"""A machine that does each action on the API and on a model of it."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

import orders.services
from contentapi.core.errors import ApiError
from contentapi.core.identity import OPERATOR
from tests.contract.api_callers import Callers
from tests.contract.api_model import (
    LATER,
    MUTATIONS,
    NO_ID,
    ROLES,
    TRANSITIONS,
    WRITERS,
    Comment,
    Order,
    Post,
    User,
    at,
)

CALLERS = st.sampled_from(["anonymous", *ROLES])
TRANSPORTS = st.sampled_from(["graphql", "rest"])
PLACES = st.integers(0, 99)  # index of an item in its list, modulo the length + 1; the last is a missing item
STATES = st.sampled_from(list(TRANSITIONS))
TITLES = st.sampled_from(["Tides", "Öland", "  Boats ", " "])


class Api(Callers):
    """A model of the API. Each rule does the same action on the API and on the model."""

    # Posts

    @rule(caller=CALLERS, transport=TRANSPORTS, title=TITLES, status=STATES)
    def create_post(self, caller: str, transport: str, title: str, status: str) -> None:
        given = {
            "title": title,
            "body": "",
            "status": status,
            **({"publishAt": LATER} if status == "scheduled" else {}),
        }
        if transport == "rest":
            response = self.send(caller, "POST", "/posts", given)
            status_code, made = response.status, response.body
        else:
            document = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id title status } }"
            status_code, made = self.gql(caller, document, input=given)

        if self.expect(status_code, caller, (caller in WRITERS, 403), (bool(title.strip()), 422)):
            self.posts.append(Post(int(made["id"]), caller, title.strip(), status))
            assert (made["title"], made["status"]) == (title.strip(), status)

    @rule(
        caller=CALLERS,
        transport=TRANSPORTS,
        place=PLACES,
        title=TITLES,
        version=st.sampled_from(["none", "right", "wrong"]),
    )
    def update_post(self, caller: str, transport: str, place: int, title: str, version: str) -> None:
        post = self.post_at(place)
        expected = {"none": {}, "right": {"expectedVersion": str(post.version)}, "wrong": {"expectedVersion": "99"}}
        given = {"title": title, **expected[version]}
        if transport == "rest":
            status_code = self.send(caller, "PATCH", f"/posts/{post.id}", given).status
        else:
            document = "mutation ($input: UpdatePostInput!) { updatePost(input: $input) { id } }"
            status_code, _ = self.gql(caller, document, input={"id": post.id, **given})

        conditions = ((post.is_visible_to(caller), 404), (post.is_writable_by(caller), 403), (version != "wrong", 409))
        if self.expect(status_code, caller, *conditions, (bool(title.strip()), 422)):
            post.version += title.strip() != post.title
            post.title = title.strip()

    @rule(caller=CALLERS, transport=TRANSPORTS, place=PLACES, status=STATES)
    def move_post(self, caller: str, transport: str, place: int, status: str) -> None:
        post = self.post_at(place)
        time = {"publishAt": LATER} if status == "scheduled" else {}
        if transport == "rest":
            status_code = self.send(caller, "PATCH", f"/posts/{post.id}", {"status": status, **time}).status
        elif status == "scheduled":
            document = "mutation ($input: SchedulePostInput!) { schedulePost(input: $input) { id } }"
            status_code, _ = self.gql(caller, document, input={"id": post.id, **time})
        else:
            status_code, _ = self.gql(
                caller, f"mutation ($id: ID!) {{ {MUTATIONS[status]}(id: $id) {{ id }} }}", id=post.id
            )

        is_legal = status == post.status or status in TRANSITIONS[post.status]
        conditions = ((post.is_visible_to(caller), 404), (post.is_writable_by(caller), 403), (is_legal, 409))
        if self.expect(status_code, caller, *conditions):
            post.version += status != post.status
            post.status = status

    @rule(caller=CALLERS, transport=TRANSPORTS, place=PLACES)
    def delete_post(self, caller: str, transport: str, place: int) -> None:
        post = self.post_at(place)
        if transport == "rest":
            status_code = self.send(caller, "DELETE", f"/posts/{post.id}").status
        else:
            status_code, _ = self.gql(caller, "mutation ($id: ID!) { deletePost(id: $id) }", id=post.id)

        if self.expect(status_code, caller, (post.is_visible_to(caller), 404), (post.is_writable_by(caller), 403)):
            post.gone = True

    @rule(caller=CALLERS, transport=TRANSPORTS, place=PLACES)
    def read_post(self, caller: str, transport: str, place: int) -> None:
        post = self.post_at(place)
        if transport == "rest":
            response = self.send(caller, "GET", f"/posts/{post.id}")
            found = response.body if response.status == 200 else None
        else:
            document = "query ($id: ID!) { post(id: $id) { title status version commentCount } }"
            _, found = self.gql(caller, document, id=post.id)

        assert (found is not None) == post.is_visible_to(caller)
        if found:
            here = [comment for comment in post.comments if not comment.gone]
            assert (found["title"], found["status"], found["commentCount"]) == (post.title, post.status, len(here))
            assert found.get("version", str(post.version)) == str(post.version)

    @rule(caller=CALLERS, transport=TRANSPORTS, status=st.none() | STATES)
    def list_posts(self, caller: str, transport: str, status: str | None) -> None:
        if transport == "rest":
            query = f"?limit=100&status={status}" if status else "?limit=100"
            listed = self.send(caller, "GET", f"/posts{query}").body["data"]
        else:
            document = "query ($status: PostStatus) { posts(limit: 100, status: $status) { id } }"
            _, listed = self.gql(caller, document, status=status)

        seen = [post.id for post in self.posts if post.is_visible_to(caller) and status in (None, post.status)]
        assert [int(post["id"]) for post in listed] == seen[::-1]

    # Comments

    @rule(caller=CALLERS, transport=TRANSPORTS, place=PLACES)
    def comment(self, caller: str, transport: str, place: int) -> None:
        post = self.post_at(place)
        if transport == "rest":
            response = self.send(caller, "POST", f"/posts/{post.id}/comments", {"body": "Hear!"})
            status_code, made = response.status, response.body
        else:
            document = "mutation ($input: AddCommentInput!) { addComment(input: $input) { id } }"
            status_code, made = self.gql(caller, document, input={"postId": post.id, "body": "Hear!"})

        if self.expect(status_code, caller, (post.is_visible_to(caller), 404)):
            post.comments.append(Comment(int(made["id"]), caller))

    @rule(caller=CALLERS, transport=TRANSPORTS, place=PLACES, which=PLACES)
    def delete_comment(self, caller: str, transport: str, place: int, which: int) -> None:
        post = self.post_at(place)
        comment = at(post.comments, which, Comment(NO_ID, "", gone=True))
        if transport == "rest":
            status_code = self.send(caller, "DELETE", f"/posts/{post.id}/comments/{comment.id}").status
        else:
            status_code, _ = self.gql(caller, "mutation ($id: ID!) { deleteComment(id: $id) }", id=comment.id)

        is_there = post.is_visible_to(caller) and not comment.gone
        if self.expect(
            status_code, caller, (is_there, 404), (comment.owner == caller or post.is_writable_by(caller), 403)
        ):
            comment.gone = True

    # Orders

    def order_at(self, place: int) -> Order:
        return at(self.orders, place, Order(NO_ID, ""))

    @rule(caller=CALLERS, total=st.sampled_from([18.5, 0, 0.001]))
    def create_order(self, caller: str, total: float) -> None:
        response = self.send(caller, "POST", "/orders", {"total": total})

        if self.expect(response.status, caller, (total == 18.5, 422)):
            self.orders.append(Order(response.body["id"], caller))
            assert list(response.body["_links"]) == ["self", "cancel", "payment"]

    @rule(caller=CALLERS, place=PLACES, action=st.sampled_from(["pay", "cancel"]))
    def pay_or_cancel_order(self, caller: str, place: int, action: str) -> None:
        order = self.order_at(place)
        becomes = "paid" if action == "pay" else "cancelled"
        method, path = ("POST", "/payment") if action == "pay" else ("DELETE", "")

        status_code = self.send(caller, method, f"/orders/{order.id}{path}").status

        is_legal = order.status == "pending" or order.status == becomes == "cancelled"
        if self.expect(status_code, caller, (order.id != NO_ID and order.is_visible_to(caller), 404), (is_legal, 409)):
            order.status = becomes

    @rule(place=PLACES, action=st.sampled_from(["ship", "deliver"]))
    def ship_or_deliver_order(self, place: int, action: str) -> None:
        order = self.order_at(place)
        before, becomes = {"ship": ("paid", "shipped"), "deliver": ("shipped", "delivered")}[action]
        tracking = {"carrier": "C", "tracking_number": "T"} if action == "ship" else {}
        try:
            getattr(orders.services, f"{action}_order")(actor=OPERATOR, order_id=str(order.id), **tracking)
            status_code = 200
        except ApiError as error:
            status_code = error.status

        if self.expect(status_code, "operator", (order.id != NO_ID, 404), (order.status == before, 409)):
            order.status = becomes

    @rule(caller=CALLERS, place=PLACES)
    def read_order_and_its_tracking(self, caller: str, place: int) -> None:
        order = self.order_at(place)
        response, tracking = (self.send(caller, "GET", f"/orders/{order.id}{path}") for path in ("", "/tracking"))

        is_there = order.id != NO_ID and order.is_visible_to(caller)
        missing = 401 if caller == "anonymous" else 404
        assert response.status == (200 if is_there else missing)
        is_shipped = order.status in ("shipped", "delivered")
        assert tracking.status == ((200 if is_shipped else 409) if is_there else missing)
        if is_there:
            links = ["cancel", "payment"] if order.status == "pending" else ["track"] if is_shipped else []
            assert (response.body["status"], list(response.body["_links"])) == (order.status, ["self", *links])

    # Users

    @rule(
        caller=CALLERS,
        email=st.sampled_from(["new@example.invalid", "NEW@example.invalid", "other@example.invalid", ""]),
    )
    def create_user(self, caller: str, email: str) -> None:
        response = self.send(caller, "POST", "/users", {"name": "New", "email": email})

        is_taken = any(user.email == email.lower() and not user.gone for user in self.users)
        conditions = ((caller == "admin", 403), (bool(email), 422), (not is_taken, 409))
        if self.expect(response.status, caller, *conditions):
            assert response.body == {"id": response.body["id"], "name": "New", "email": email}
            assert response.headers["Location"] == f"/users/{response.body['id']}"
            self.users.append(User(response.body["id"], email.lower()))

    @rule(caller=CALLERS, place=PLACES)
    def read_and_delete_user(self, caller: str, place: int) -> None:
        user = at(self.users, place, User(NO_ID, "", gone=True))

        found = self.send(caller, "GET", f"/users/{user.id}").status
        deleted = self.send(caller, "DELETE", f"/users/{user.id}").status

        is_there = not user.gone and caller == "admin"
        assert found == (200 if is_there else 401 if caller == "anonymous" else 404)
        if self.expect(deleted, caller, (is_there, 404)):
            user.gone = True

    @rule(caller=CALLERS)
    def read_viewer(self, caller: str) -> None:
        status, viewer = self.gql(caller, "{ viewer { user { id } role } }")

        assert status == 200
        assert (viewer is None) == (caller == "anonymous")
        if viewer:
            assert viewer == {"user": {"id": str(self.actors[caller].user_id)}, "role": ROLES[caller].value}
