"""The working copy of a post in its form, and the pages of what it changes.

The form of a published post, and of every post that has a working copy, changes the copy. Other forms change the post.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from blog import policy, selectors, services
from blog.desk.posts import history
from blog.desk.posts.form import is_on_copy
from blog.desk.posts.states import link_post, link_site
from blog.history import versions
from blog.history.copies import compare_copy, restore_copy
from blog.models import Post, PostStatus, WorkingCopy
from blog.services import CopyAction
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.desk.bases import PolicyAdmin, get_actor


class CopyButton(NamedTuple):
    """A button of the form for its working copy. With `has_time`, the time of publication is beside it.

    With a `verb`, a dialog asks before the form is sent.
    """

    action: CopyAction
    label: str
    help: str
    has_time: bool = False
    verb: str = ""

    @property
    def name(self) -> str:
        return f"_{self.action}"


def list_buttons(actor: Actor, post: Post, copy: WorkingCopy | None) -> Iterator[CopyButton]:
    """Yield the buttons for the working copy below the form, of those that the actor may press."""
    is_public = post.status == PostStatus.PUBLISHED
    may_publish = policy.may_publish_working_copy_of(actor, post.author.user_id, post.status)
    if may_publish and is_public:
        yield CopyButton(CopyAction.SCHEDULE, "Schedule the changes", "Readers see the changes from", has_time=True)
    if copy is not None and copy.publish_at is not None:
        yield CopyButton(CopyAction.UNSCHEDULE, "Do not publish the changes", "The changes stay, without a time.")
    if copy is not None:
        effect = "The form shows the text of the post again. The history keeps the changes: you can restore them."
        yield CopyButton(CopyAction.DISCARD, "Discard the changes", effect, verb="Discard the changes of")


def build_copy_state(actor: Actor, post: Post, copy: WorkingCopy | None) -> dict[str, Any]:
    """Return what the form shows of the working copy; nothing if the form changes the post itself."""
    if not is_on_copy(post, copy):
        return {}
    is_public = post.status == PostStatus.PUBLISHED
    may_publish = policy.may_publish_working_copy_of(actor, post.author.user_id, post.status)
    state: dict[str, Any] = {
        "publish": f"_{CopyAction.PUBLISH}" if may_publish else "",
        "publish_label": "Publish changes" if is_public else "Take over the changes",
        "buttons": list(list_buttons(actor, post, copy)),
        "is_outdated": copy is not None and services.has_changed_since(post, copy.base_version),
        "copy": copy,
        "held": copy and copy.publish_at and selectors.find_locked_scheduler(copy),
        "person": copy and versions.name_saver(copy),
    }
    return {"working_copy": state, "show_save": False, "show_save_and_add_another": False}  # the row is full


def show_changes(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Show what the working copy of a post changes for its readers. A POST request publishes it."""
    actor, post = get_actor(request), model_admin.get_object(request, object_id)
    if not model_admin.may_change(actor, post):
        raise PermissionDenied
    if request.method == "POST":
        return publish_changes(request, model_admin, post)
    comparison = compare_copy(actor=actor, post_id=object_id)
    context: dict[str, Any] = {
        "title": f"What will change in “{post.title}”",
        "object_id": object_id,
        "post": post,
        "comparison": comparison,
        "fields": history.list_fields(comparison),
        **build_copy_state(actor, post, services.find_visible_copy(actor, post)),
    }
    return model_admin.render(request, "admin/blog/post/changes.html", context)


def publish_changes(request: HttpRequest, model_admin: PolicyAdmin, post: Post) -> HttpResponse:
    """Publish the working copy that the person has seen."""
    seen, before = parse_id(request.POST.get("copy", "")), post.version
    post = services.publish_working_copy(actor=get_actor(request), post_id=str(post.pk), expected_version=str(seen))
    model_admin.message_user(
        request, format_html("“{}” has the new text. {}", link_post(post), link_site(post)), messages.SUCCESS
    )
    model_admin.log_change(request, post, history.build_log_message(request, post, before))
    return HttpResponseRedirect(reverse("admin:blog_post_changelist"))


def show_copy(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, number: int) -> HttpResponse:
    """Show an earlier version of a working copy: what it changed, and its text."""
    actor = get_actor(request)
    comparison = compare_copy(actor=actor, post_id=object_id, number=number)
    title = f"Changes of “{comparison.old.values['title']}”"
    return history.render_version(request, model_admin, object_id, comparison.new, title, comparison, is_copy=True)


@require_POST
def restore_changes(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, number: int) -> HttpResponse:
    """Make an earlier version of a working copy the present one, and show the post."""
    seen = parse_id(request.POST.get("copy", ""))
    restore_copy(actor=get_actor(request), post_id=object_id, number=number, copy_version=seen)
    model_admin.message_user(request, "The changes are restored. Readers do not see them yet.", messages.SUCCESS)
    return HttpResponseRedirect(reverse("admin:blog_post_change", args=[object_id]))
