"""Saves in the background: by itself while a person writes, and by Ctrl+S (blog/static/blog/autosave.js)."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from blog import services
from blog.desk.posts import copies, save, writing
from blog.desk.posts.history import build_log_message
from blog.desk.posts.save import OPENED, StateForm
from blog.models import ADDRESSES, CONTENT, Post, PostStatus
from contentapi.core.errors import ApiError, Invalid, VersionConflict
from contentapi.core.identity import Actor
from contentapi.desk.bases import PolicyAdmin, get_actor

NEW = "new"  # in place of the id of a post that is not saved yet
CREATED = "created_posts"  # the key in a session: the post of each kept text, so that no text becomes two posts
MOST_CREATED = 10
WORDS_OF_TITLE = 8
MOST_OF_BODY = 2000  # characters, of which a title is made


@require_POST
def save_text(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Save a form. Return the versions that it then shows, or what is wrong with which field.

    A new post becomes a draft, and the state of others does not change. By itself, the desk saves the text of drafts
    and working copies; by hand, it saves what the button "Save" does.
    """
    actor, post = get_actor(request), find_post(request, model_admin, object_id)
    if not (model_admin.may_add(actor) if post is None else model_admin.may_change(actor, post)):
        raise PermissionDenied
    form, status = build_form(request, model_admin, post), Invalid.status
    try:
        if form.is_valid():
            saved = create_draft(request, model_admin, form) if post is None else edit(request, model_admin, post, form)
            response = JsonResponse(saved)
            return writing.name_saved_text(request, response) if "leaving" in request.POST else response
    except VersionConflict as error:
        return JsonResponse({"problem": error.message, "isConflict": True}, status=error.status)
    except ApiError as error:
        form.add_api_error(error)
        status = error.status
    return JsonResponse({"problem": describe_errors(form)}, status=status)


def find_post(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> Post | None:
    """Return the post; None for a new one. A new text may be a draft already, if the browser got no response."""
    if object_id == NEW:
        object_id = request.session.get(CREATED, {}).get(request.POST.get("kept_text", ""), "")
    return model_admin.get_object(request, object_id) if object_id else None


def build_form(request: HttpRequest, model_admin: PolicyAdmin, post: Post | None) -> StateForm:
    """Return the form with what was sent, without a button. A new text without a title gets one."""
    form_class: type[StateForm] = model_admin.get_form(request, post, change=post is not None)
    sent = request.POST.copy()  # with the author profiles that `get_form` has created
    sent.pop("_act", None)
    if post is None and not sent.get("title", "").strip():
        sent["title"] = make_title(sent.get("body", ""))
    return form_class(sent, instance=post)


def make_title(body: str) -> str:
    """Return the first words of a text: "Untitled" for a text without words, and an empty title for an empty one."""
    words = services.render_post(body[:MOST_OF_BODY], None).default_excerpt or ("Untitled" if body.strip() else "")
    first = words.split()[:WORDS_OF_TITLE]
    return " ".join(first) + ("…" if len(first) < len(words.split()) else "")


def describe_errors(form: StateForm) -> str:
    """Return the rules that the form breaks, each with the label of its field."""
    problems = ((name, text) for name, texts in form.errors.items() for text in texts)
    return " ".join(f"{form[name].label}: {text}" if name in form.fields else str(text) for name, text in problems)


def create_draft(request: HttpRequest, model_admin: PolicyAdmin, form: StateForm) -> dict[str, Any]:
    """Create a draft. Return what `edit` does, its title, its id and the addresses at which the form is saved now."""
    post = save.create_post(get_actor(request), form.instance, form)
    model_admin.log_addition(request, post, [{"added": {}}])
    created = request.session.get(CREATED, {})
    latest = dict(list(created.items())[-MOST_CREATED:])
    request.session[CREATED] = {**latest, request.POST.get("kept_text", ""): str(post.pk)}
    pages = {name: reverse(f"admin:blog_post_{name}", args=[post.pk]) for name in ("autosave", "change")}
    saved = describe_save(save.list_versions(post, None), vars(post), ("title", *ADDRESSES))
    return saved | {"post": {"id": str(post.pk), **pages}}


def edit(request: HttpRequest, model_admin: PolicyAdmin, post: Post, form: StateForm) -> dict[str, Any]:
    """Save a form. Return its hidden fields, and the addresses that were made from the title."""
    actor, by_hand, version = get_actor(request), "by_hand" in request.POST, post.version
    saved = (edit_post if form.cleaned_data["opened_copy"] is None else edit_copy)(actor, post, form, by_hand=by_hand)
    if by_hand and (message := build_log_message(request, post, version)):
        model_admin.log_change(request, post, message)
    return saved


def edit_post(actor: Actor, post: Post, form: StateForm, *, by_hand: bool) -> dict[str, Any]:
    changes = {name: value for name, value in form.post_changes.items() if by_hand or name in CONTENT}
    opened = form.cleaned_data["opened_version"]
    if changes and (by_hand or post.status == PostStatus.DRAFT):
        post = services.edit_post(actor=actor, post_id=str(post.pk), changes=changes, expected_version=str(opened))
        opened = post.version
    return describe_save({"opened_copy": "", "opened_version": opened}, vars(post))


@transaction.atomic
def edit_copy(actor: Actor, post: Post, form: StateForm, *, by_hand: bool) -> dict[str, Any]:
    versions = {name: form.cleaned_data[name] for name in OPENED}
    if by_hand:
        versions["opened_post"] = copies.save_settings(actor, post, form)
    copy = copies.save_text(actor, post, form)
    return (
        describe_save(versions | {"opened_copy": copy.version}, copy.content) if copy else describe_save(versions, {})
    )


def describe_save(
    versions: Mapping[str, Any], content: Mapping[str, Any], names: Iterable[str] = ADDRESSES
) -> dict[str, Any]:
    addresses = {name: content[name] or "" for name in names if name in content}
    return {"versions": versions, "addresses": addresses, "saved_at": timezone.now().isoformat()}
