"""The callers of the API in the test of its model: their keys, their requests, and the rows that they begin with."""

from typing import Any

from django.db import transaction
from hypothesis.stateful import RuleBasedStateMachine

from blog.models import Author
from contentapi.core.identity import Actor
from contentapi.rate_limits.account import COUNTERS
from tests.conftest import make_api_key
from tests.contract.api_model import LATER, NO_POST, ROLES, TRANSITIONS, Comment, Order, Post, User, at
from tests.factories import make_actor, make_author, make_comment, make_order, make_post
from tests.resources import RestResponse, send_request


class Callers(RuleBasedStateMachine):
    """The callers of the API, what each sends, and the rows of the model. It has no rules."""

    def __init__(self) -> None:
        super().__init__()
        self.undone = transaction.atomic()
        self.undone.__enter__()
        authors = {"ann": make_author(), "bob": make_author()}
        self.actors: dict[str, Actor] = {
            name: make_actor(role, author=authors.get(name)) for name, role in ROLES.items()
        }
        self.keys = {name: make_api_key(actor) for name, actor in self.actors.items()}
        self.posts = [self.post(owner, author, status) for owner, author in authors.items() for status in TRANSITIONS]
        self.orders = [Order(make_order(user_id=self.actors["reader"].user_id).pk, "reader")]
        self.users: list[User] = []  # created by the rules

    def post(self, owner: str, author: Author, status: str) -> Post:
        row = make_post(
            title="Tides", author=author, status=status, publish_at=LATER if status == "scheduled" else None
        )
        return Post(row.pk, owner, "Tides", status, comments=[Comment(make_comment(row).pk, owner)])

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.undone.__exit__(None, None, None)

    # Requests

    def send(self, caller: str, method: str, path: str, body: Any = None) -> RestResponse:
        COUNTERS.clear()
        headers = {"X_API_Key": self.keys[caller]} if caller in self.keys else {}
        return send_request(method, path, body, **headers)  # type: ignore[arg-type]

    def gql(self, caller: str, document: str, **variables: Any) -> tuple[int, Any]:
        """Return the status and the value of the one root field."""
        response = self.send(caller, "POST", "/graphql", {"query": document, "variables": variables})
        return response.status, next(iter((response.body.get("data") or {"": None}).values()))

    def expect(self, status_code: int, caller: str, *conditions: tuple[bool, int]) -> bool:
        """Compare a status with the first condition that is not met. Return whether all are met."""
        wanted = next((status for met, status in ((caller != "anonymous", 401), *conditions) if not met), None)
        if wanted is None:
            assert status_code in (200, 201, 204), status_code
        else:
            assert status_code == wanted
        return wanted is None

    def post_at(self, place: int) -> Post:
        return at(self.posts, place, NO_POST)
