"""The history of posts and their working copies: versions, differences, restoring; and the buttons of a copy."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from blog import policy, selectors, services
from blog.desk.posts.form import is_on_copy
from blog.desk.posts.states import link_post, link_site, list_copy_buttons
from blog.history import copies, versions
from blog.history.versions import Change, Comparison, Version
from blog.models import CONTENT_FIELDS, VERSIONED, Image, Post, PostStatus, WorkingCopy
from blog.services import CopyAction
from blog.services.working_copies import find_visible_copy
from contentapi.auth.people import name_users
from contentapi.auth.sessions import get_actor
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.rendering import describe_origin
from contentapi.events.feed import list_last_events
from contentapi.events.webhooks.selectors import list_deliveries_of_subject

# The fields of a post in the words of the editors
LABELS = {name: name.replace("_", " ") for name in VERSIONED} | {field.name: field.label for field in CONTENT_FIELDS}
LABELS["coauthor_ids"] = "co-authors"


def show_history(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Show the versions of a post, the newest first, instead of Django's log."""
    before = read_position(request, "before")
    page = versions.list_versions(actor=get_actor(request), post_id=object_id, before=before)
    before = read_position(request, "copies_before")
    listed = copies.list_copies(actor=get_actor(request), post_id=object_id, before=before)
    context: dict[str, Any] = {
        "title": f"History of {page.title}",
        "page": page,
        "versions": [
            (each, describe_person(each.made), describe_changes(each)) for each in versions.group_versions(page)
        ],
        "copies": [(copy, describe_person(copy.made), describe_copy(copy)) for copy in versions.group_versions(listed)],
        "copies_before": listed.next_before,
        "object_id": object_id,
    }
    return model_admin.render(request, "admin/blog/post/history.html", context)


def show_events(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Show the events of a post, the last first; for admins, to whom they were sent."""
    actor, post_id = get_actor(request), parse_id(object_id)
    page = versions.list_versions(actor=actor, post_id=object_id, limit=1)
    events = list_last_events(actor, post_id, before=read_position(request, "before"), limit=versions.PAGE + 1)
    shown = events[: versions.PAGE]
    deliveries = list_deliveries_of_subject(actor, post_id, positions=[event.position for event in shown])
    sent = {
        event.position: [delivery for delivery in deliveries if delivery.position == event.position] for event in shown
    }
    names = name_users(event.actor_id for event in shown)
    context = {
        "title": f"Events of {page.title}",
        "page": page,
        "events": [(event, names.get(event.actor_id or 0, ""), sent[event.position]) for event in shown],
        "has_deliveries": bool(deliveries),
        "next_before": shown[-1].position if len(events) > versions.PAGE else None,
        "object_id": object_id,
    }
    return model_admin.render(request, "admin/blog/post/events.html", context)


def show_version(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, number: int) -> HttpResponse:
    """Show a version and its differences from another one: by default from the version before it."""
    actor = get_actor(request)
    page = versions.list_versions(actor=actor, post_id=object_id, before=number, limit=1)
    other = read_position(request, "compare")
    if other is None and page.versions:
        other = page.versions[0].number
    if other is None:
        comparison = None
        version = versions.read_version(actor=actor, post_id=object_id, number=number)
    else:
        comparison = versions.compare_versions(actor=actor, post_id=object_id, old=other, new=number)
        version = comparison.new
    title = f"Version {number} of {page.title or version.values['title']}"
    return render_version(request, model_admin, object_id, version, title, comparison)


def render_version(
    request: HttpRequest,
    model_admin: PolicyAdmin,
    object_id: str,
    version: Version,
    title: str,
    comparison: Comparison | None,
    *,
    is_copy: bool = False,
) -> HttpResponse:
    """Return the page of a version of a post, or with `is_copy` of a working copy, which can restore it."""
    actor = get_actor(request)
    post = selectors.posts.find_post(actor, object_id)
    copy = find_visible_copy(actor, post)
    context = {
        "title": title,
        "object_id": object_id,
        "version": version,
        "person": describe_person(version.made),
        "comparison": comparison,
        "fields": list_fields(comparison) if comparison else [],
        "post": post,
        "copy": copy,
        "copy_person": copy and versions.name_saver(copy),
        "is_copy": is_copy,
        "new_label": "These changes" if is_copy else f"Version {version.number}",
        "restores_copy": is_copy or copy is not None or (post is not None and post.status == PostStatus.PUBLISHED),
    }
    return model_admin.render(request, "admin/blog/post/version.html", context)


def list_fields(comparison: Comparison) -> list[tuple[str, Any, Any]]:
    """Return the label, the old and the new value of each field that differs but the body."""
    return [
        (LABELS.get(name, name), describe_value(name, old), describe_value(name, new))
        for name, old, new in comparison.fields
    ]


@require_POST
def restore_text(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, number: int) -> HttpResponse:
    """Restore the text of a version, and show the post. The form has the versions that the person has seen."""
    present, copy = (parse_id(request.POST.get(name, "")) for name in ("present", "copy"))
    seen = {"post_version": present, "copy_version": copy}
    restored = copies.restore_text(actor=get_actor(request), post_id=object_id, number=number, **seen)
    if isinstance(restored, WorkingCopy):
        result = "is restored as changes that readers do not see. Publish them, or discard them"
    elif restored.version == present:
        result = "is the present text. Nothing has changed"
    else:
        result = f"is restored as version {restored.version}"
    model_admin.message_user(request, f"The text of version {number} {result}.")
    return HttpResponseRedirect(reverse("admin:blog_post_change", args=[object_id]))


def read_position(request: HttpRequest, name: str) -> int | None:
    """Return the number in a parameter of the address, or None."""
    return parse_id(request.GET.get(name, "")) or None


def describe_person(change: Change) -> str:
    """Return who made a change, and with what: `Edda Editor, in the admin`."""
    return describe_origin(change.person, change.origin)


def describe_changes(version: Version) -> str:
    """Return what made a version: the restore of a deleted post, and the labels of the fields that were changed."""
    labels = [LABELS.get(name, name) for name in version.changed_fields or ()]
    if version.is_restored:
        return ", ".join(["restored", *labels])
    return "first version" if version.changed_fields is None else ", ".join(labels) or "nothing"


def describe_copy(copy: Version) -> str:
    """Return what became of a version of a working copy."""
    if copy.is_present:
        return "saved; readers do not see it yet"
    if copy.deletion is None:
        return "saved"
    action = (copy.values["pgh_context"] or {}).get("action", "deleted")
    return f"{action} by {describe_person(copy.deletion)}"


def describe_value(name: str, value: Any) -> Any:
    """Return the value of a field as a template shows it: of a cover its name."""
    if name == "cover_id" and value is not None:
        return Image.objects.filter(pk=value).values_list("name", flat=True).first() or "deleted image"
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def build_copy_state(actor: Actor, post: Post, copy: WorkingCopy | None) -> dict[str, Any]:
    """Return what the form shows of the working copy; nothing if the form changes the post itself."""
    if not is_on_copy(post, copy):
        return {}
    is_public = post.status == PostStatus.PUBLISHED
    may_publish = policy.may_publish_working_copy_of(actor, post.author.user_id, post.status)
    state: dict[str, Any] = {
        "publish": CopyAction.PUBLISH.value if may_publish else "",
        "publish_label": "Publish changes" if is_public else "Take over the changes",
        "buttons": list(list_copy_buttons(actor, post, copy)),
        "is_outdated": copy is not None and services.working_copies.has_changed_since(post, copy.base_version),
        "copy": copy,
        "held": copy and copy.publish_at and selectors.posts.find_locked_scheduler(copy),
        "person": copy and versions.name_saver(copy),
    }
    return {"working_copy": state, "show_save": False, "show_save_and_add_another": False}  # the row is full


def show_changes(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Show what the working copy of a post changes for its readers. A POST request publishes it."""
    actor, post = get_actor(request), model_admin.get_editable(request, object_id)
    if request.method == "POST":  # the working copy that the person has seen
        seen = str(parse_id(request.POST.get("copy", "")))
        post = services.publish_working_copy(actor=actor, post_id=str(post.pk), expected_version=seen)
        message = format_html("“{}” has the new text. {}", link_post(post), link_site(post))
        model_admin.message_user(request, message, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:blog_post_changelist"))
    comparison = copies.compare_copy(actor=actor, post_id=object_id)
    context: dict[str, Any] = {
        "title": f"What will change in “{post.title}”",
        "object_id": object_id,
        "post": post,
        "comparison": comparison,
        "fields": list_fields(comparison),
        **build_copy_state(actor, post, find_visible_copy(actor, post)),
    }
    return model_admin.render(request, "admin/blog/post/changes.html", context)


def show_copy(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, number: int) -> HttpResponse:
    """Show an earlier version of a working copy: what it changed, and its text."""
    actor = get_actor(request)
    comparison = copies.compare_copy(actor=actor, post_id=object_id, number=number)
    title = f"Changes of “{comparison.old.values['title']}”"
    return render_version(request, model_admin, object_id, comparison.new, title, comparison, is_copy=True)


@require_POST
def restore_changes(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, number: int) -> HttpResponse:
    """Make an earlier version of a working copy the present one, and show the post."""
    seen = parse_id(request.POST.get("copy", ""))
    copies.restore_copy(actor=get_actor(request), post_id=object_id, number=number, copy_version=seen)
    model_admin.message_user(request, "The changes are restored. Readers do not see them yet.", messages.SUCCESS)
    return HttpResponseRedirect(reverse("admin:blog_post_change", args=[object_id]))
