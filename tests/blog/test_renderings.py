"""When posts are rendered: with each write of a public post, and by the worker."""

import logging
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from django.utils import timezone

from blog import background, services
from blog.history import trash
from blog.models import IS_UNRENDERED, Post
from blog.rendering import RENDERER
from blog.services import Edit, StateAction, save_edit
from blog.services.renderings import POSTS_AT_ONCE
from contentapi.core.identity import OPERATOR, WORKER, Actor, Role
from tests.blog.post_versions import restore_text
from tests.conftest import GraphQL
from tests.factories import make_actor, make_post

FIELDS = "query ($id: ID!) { post(id: $id) { excerpt description bodyHtml } }"
BOILED = {"excerpt": "Boil.", "description": "Boil.", "bodyHtml": "<p>Boil.</p>\n"}
NOTHING = {"excerpt": "", "description": "", "bodyHtml": None}


def create_post(actor: Actor, **values: Any) -> Post:
    return services.create_post(actor=actor, **{"title": "Soup", "body": "Boil.", **values})


def edit_post(post: Post, **changes: Any) -> Post:
    return services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)


def read(gql: GraphQL, post: Post) -> Any:
    return gql(FIELDS, actor=make_actor(Role.EDITOR), id=str(post.pk)).data["post"]


def run_worker() -> None:
    background.render_posts(Event())


def test_public_post_is_rendered_with_each_write(gql: GraphQL, editor: Actor) -> None:
    post = create_post(editor, status="published")
    assert read(gql, post) == BOILED

    edit_post(post, body="Fry.")
    assert read(gql, post) == {"excerpt": "Fry.", "description": "Fry.", "bodyHtml": "<p>Fry.</p>\n"}
    edit_post(post, excerpt="Own.", title="Stew")
    assert read(gql, post) == {"excerpt": "Own.", "description": "Own.", "bodyHtml": "<p>Fry.</p>\n"}
    edit_post(post, excerpt="", description="  Mine. ")
    assert read(gql, post) == {"excerpt": "Fry.", "description": "Mine.", "bodyHtml": "<p>Fry.</p>\n"}
    edit_post(post, description=None, tags=["hot"])
    assert read(gql, post)["description"] == "Fry."


def test_draft_is_rendered_by_the_worker_without_a_new_version(gql: GraphQL, editor: Actor) -> None:
    post = create_post(editor, excerpt="Own.")
    assert read(gql, post) == {"excerpt": "Own.", "description": "", "bodyHtml": None}

    run_worker()
    assert read(gql, post) == {"excerpt": "Own.", "description": "Own.", "bodyHtml": "<p>Boil.</p>\n"}
    edit_post(post, title="Stew")
    assert read(gql, post)["bodyHtml"] == "<p>Boil.</p>\n"
    edit_post(post, excerpt=None)
    assert read(gql, post) == NOTHING
    assert Post.objects.get(pk=post.pk).version == 3


def test_post_that_becomes_public_is_rendered(gql: GraphQL, editor: Actor) -> None:
    for is_rendered in [False, True]:
        published, scheduled, again = (create_post(editor) for _ in range(3))
        if is_rendered:
            run_worker()
        edit_post(published, status="published")
        later = timezone.now() + timedelta(days=1)
        edit_post(scheduled, status="scheduled", publish_at=later)
        Post.objects.filter(pk=scheduled.pk).update(publish_at=timezone.now())
        list(services.publish_due(actor=WORKER))
        edit_post(again, status="archived")
        save_edit(OPERATOR, str(again.pk), Edit(action=StateAction.PUBLISH_AGAIN))

        assert [read(gql, post) for post in (published, scheduled, again)] == [BOILED] * 3


def test_restored_posts_are_rendered(gql: GraphQL, editor: Actor) -> None:
    post = create_post(editor, status="published")
    edit_post(post, body="Fry.", excerpt="Own.")

    restore_text(post, 1)
    services.publish_working_copy(actor=OPERATOR, post_id=str(post.pk))
    assert read(gql, post) == BOILED
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    trash.restore_deleted_post(actor=OPERATOR, post_id=str(post.pk))
    assert read(gql, post) == BOILED


def test_change_without_a_rendering_is_rendered_by_the_worker(gql: GraphQL, editor: Actor) -> None:
    for values in [{}, {"version": 2}]:
        post = create_post(editor, status="published")

        Post.objects.filter(pk=post.pk).update(body="Fry.", **values)
        assert read(gql, post) == NOTHING
        run_worker()
        assert read(gql, post)["bodyHtml"] == "<p>Fry.</p>\n"
        assert Post.objects.get(pk=post.pk).version == 2


def test_posts_of_an_earlier_renderer_are_shown_and_rendered_again(gql: GraphQL, editor: Actor) -> None:
    post = create_post(editor, status="published")
    Post.objects.filter(pk=post.pk).update(renderer=RENDERER - 1, body_html="old")

    assert read(gql, post)["bodyHtml"] == "old"
    run_worker()
    assert read(gql, post) == BOILED
    Post.objects.filter(pk=post.pk).update(renderer=RENDERER + 1, body_html="new")
    run_worker()  # of a release that is being replaced
    assert read(gql, post)["bodyHtml"] == "new"


def test_worker_renders_all_posts_in_batches_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "contentapi.worker")
    for _ in range(2 * POSTS_AT_ONCE + 1):
        make_post()

    run_worker()
    run_worker()

    assert not Post.objects.filter(IS_UNRENDERED).exists()
    assert set(Post.objects.values_list("version", "rendered_version", "renderer")) == {(1, 1, RENDERER)}
    assert [record.getMessage() for record in caplog.records] == [f"Rendered {2 * POSTS_AT_ONCE + 1} posts."]
