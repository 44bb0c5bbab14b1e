"""`@atomic` with ten mutations and an error at each place: nothing remains of them, of whatever kind they are."""

from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.apps import apps
from hypothesis import given, settings
from hypothesis import strategies as st

from contentapi.core.identity import Role
from contentapi.monitoring.figures import FIGURES
from contentapi.rate_limits.account import COUNTERS
from tests.audit_lines import Lines
from tests.conftest import make_api_key
from tests.factories import make_actor, make_author, make_comment, make_order, make_post, make_user
from tests.graphql_requests import GraphQLResponse, post_to_graphql
from tests.thoroughness import scale_examples
from users import authentication

NEW = '{title: "New", body: "b", status: published}'
REFUSED = (
    "archivePost(id: 0) { id }",
    'createPost(input: {title: " ", body: "b"}) { id }',
    'createPost(input: {title: "t", body: "b", authorId: "0"}) { id }',
    'updatePost(input: {id: POST, title: "t", expectedVersion: "99"}) { id }',
    f"createPost(input: {NEW}) {{ comments(limit: 0) {{ id }} }}",
    "payOrder(input: {id: 0}) { order { id } }",
)


class Scene(NamedTuple):
    """Ten mutations of all kinds that succeed in any order, and the key of an admin."""

    mutations: list[str]
    refused: list[str]
    key: str

    def send(self, mutations: list[str]) -> GraphQLResponse:
        fields = " ".join(f"m{number}: {mutation}" for number, mutation in enumerate(mutations))
        return post_to_graphql({"query": f"mutation @atomic {{ {fields} }}"}, X_API_Key=self.key)


def build_scene() -> Scene:
    author = make_author()
    draft, public, changed, deleted = [
        make_post(author=author, status=status) for status in ("draft", *["published"] * 3)
    ]
    order, pending, user = make_order(), make_order(), make_user()
    mutations = [
        f"createPost(input: {NEW}) {{ id author {{ name }} }}",
        f'updatePost(input: {{id: {changed.pk}, title: "Changed", tags: ["x"]}}) {{ title }}',
        f"publishPost(id: {draft.pk}) {{ status }}",
        f"archivePost(id: {public.pk}) {{ status }}",
        f"deletePost(id: {deleted.pk})",
        f'addComment(input: {{postId: {changed.pk}, body: "c"}}) {{ id author {{ name }} }}',
        f"deleteComment(id: {make_comment(changed).pk})",
        f"payOrder(input: {{id: {order.pk}}}) {{ order {{ status }} }}",
        f"cancelOrder(input: {{id: {pending.pk}}}) {{ order {{ status }} }}",
        f"deleteUser(input: {{id: {user.pk}}}) {{ deletedUserId }}",
    ]
    refused = [mutation.replace("POST", str(changed.pk)) for mutation in REFUSED]
    return Scene(mutations, refused, make_api_key(make_actor(Role.ADMIN, author=author)))


def read_rows() -> dict[str, Any]:
    """Return all rows of all tables: posts, their history, changes for the search index, orders, users."""
    return {
        model._meta.label: sorted(map(repr, model._base_manager.values_list()))
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
    }


@pytest.mark.property
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("without_time_limits")
def test_error_at_any_place_leaves_everything_as_before(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FIGURES, "is_enabled", True)
    monkeypatch.setattr(authentication, "LAST_USE_INTERVAL", timedelta(days=1))  # the examples may take a minute
    scene = build_scene()
    scene.send(["__typename"])  # notes the use of the key
    rows, counters = read_rows(), dict(FIGURES.counters)
    lines.fields.clear()

    @given(st.permutations(scene.mutations), st.integers(0, 9), st.sampled_from(scene.refused))
    @settings(max_examples=scale_examples(300), deadline=None)
    def check(mutations: list[str], place: int, refused: str) -> None:
        COUNTERS.clear()

        response = scene.send([*mutations[:place], refused, *mutations[place + 1 :]])

        assert response.body["data"] is None
        assert [error["path"][0] for error in response.body["errors"]] == [f"m{place}"]
        assert response.status == response.body["errors"][0]["extensions"]["status"]
        assert (lines.fields, FIGURES.counters) == ([], counters)
        assert read_rows() == rows

    check()

    COUNTERS.clear()
    data = scene.send(scene.mutations).data
    assert len(data) == len(scene.mutations) == 10
    assert sorted(lines.events) == [
        "comment.deleted", "order.cancelled", "order.paid", "post.archived", "post.deleted", "post.published",
        "post.published", "user.deleted",
    ]  # fmt: skip
    assert FIGURES.counters["contentapi_posts_published_total", ("GraphQL",)] == 2 + counters.get(
        ("contentapi_posts_published_total", ("GraphQL",)), 0
    )
