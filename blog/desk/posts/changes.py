"""The changes of a post that readers do not see: what they change, their publication, and their earlier versions."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from blog import services
from blog.desk.posts import copies, history
from blog.desk.posts.site import link_site
from blog.desk.posts.states import link_post
from blog.history.copies import compare_copy, restore_copy
from blog.models import Post
from contentapi.core.errors import ApiError
from contentapi.core.pagination import parse_id
from contentapi.desk.bases import PolicyAdmin, get_actor


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
        **copies.build_copy_state(actor, post, services.find_visible_copy(actor, post)),
    }
    return model_admin.render(request, "admin/blog/post/changes.html", context)


def publish_changes(request: HttpRequest, model_admin: PolicyAdmin, post: Post) -> HttpResponse:
    """Publish the working copy that the person has seen."""
    seen, before = parse_id(request.POST.get("copy", "")), post.version
    try:
        post = services.publish_working_copy(actor=get_actor(request), post_id=str(post.pk), expected_version=str(seen))
    except ApiError as error:
        model_admin.message_user(request, error.message, messages.ERROR)
        return HttpResponseRedirect(reverse("admin:blog_post_change", args=[post.pk]))
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
    try:
        restore_copy(actor=get_actor(request), post_id=object_id, number=number, copy_version=seen)
    except ApiError as error:
        model_admin.message_user(request, error.message, messages.ERROR)
        return HttpResponseRedirect(reverse("admin:blog_post_history", args=[object_id]))
    model_admin.message_user(request, "The changes are restored. Readers do not see them yet.", messages.SUCCESS)
    return HttpResponseRedirect(reverse("admin:blog_post_change", args=[object_id]))
