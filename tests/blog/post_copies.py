"""What an operator does to the working copies of posts, for tests."""

from typing import Any

from django.test import Client
from django.urls import reverse

from blog import services
from blog.models import Post, WorkingCopy
from contentapi.core.identity import OPERATOR, Actor
from tests.admin_forms import submit_form


def save(post: Post, actor: Actor = OPERATOR, **values: Any) -> WorkingCopy:
    return services.save_working_copy(actor=actor, post_id=str(post.pk), **values)


def publish(post: Post, actor: Actor = OPERATOR, **values: Any) -> Post:
    return services.publish_working_copy(actor=actor, post_id=str(post.pk), **values)


def publish_in_desk(client: Client, post: Post, **edits: Any) -> Any:
    """Press “Publish changes” in the form, and again on the page that shows what will change."""
    saved = submit_form(client, reverse("admin:blog_post_change", args=[post.pk]), **edits, _act="publish_changes")
    page = reverse("admin:blog_post_changes", args=[post.pk])
    return submit_form(client, page) if saved.headers["Location"] == page else saved
