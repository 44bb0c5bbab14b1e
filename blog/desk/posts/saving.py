"""Saves of a post: by the buttons of its form, by Ctrl+S (saving.js), and by itself while one writes (autosave.js)."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from blog import services
from blog.desk.posts import conflict, writing
from blog.desk.posts.form import NEW, OPENED, PostForm, list_versions, read_action
from blog.desk.posts.states import NEW_POST, describe_result, link_post
from blog.models import ADDRESSES, CONTENT, Post, PostStatus
from blog.services import CopyAction, Edit, Saved, StateAction, presence
from blog.services.edits import TARGETS
from contentapi.auth.sessions import get_actor
from contentapi.core.entity_tags import require_version
from contentapi.core.errors import ApiError, Invalid, Malformed, VersionConflict
from contentapi.core.identity import Actor
from contentapi.desk.bases import PolicyAdmin

CREATED = "created_posts"  # the key in a session: the post of each kept text, so that no text becomes two posts
MOST_CREATED = 10
WORDS_OF_TITLE = 8
MOST_OF_BODY = 2000  # characters, of which a title is made
# The messages after a save of a working copy, by the action of the button
RESULTS: Mapping[CopyAction | None, str] = {
    CopyAction.PUBLISH: "Readers see the text of “{}” already: there are no changes.",
    CopyAction.SCHEDULE: "The changes of “{}” are saved. Readers will see them at the time that you chose.",
    CopyAction.UNSCHEDULE: "The changes of “{}” are saved, without a time of publication.",
    CopyAction.DISCARD: "The changes of “{}” are discarded. "
    '<a class="message-link" href="{}">Look at them, or restore them</a>.',
    None: "The changes of “{}” are saved. Readers do not see them yet.",
}


def save_form(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse | None:
    """Save the form of a post. Return the next page, or None for a form with errors, which is shown again."""
    post: Post = model_admin.get_editable(request, object_id)
    form = model_admin.get_form(request, post, change=True)(request.POST, instance=post)
    if not form.is_valid():
        return None
    edit = form.read_edit()
    try:
        saved = services.save_edit(get_actor(request), str(post.pk), edit)
    except ApiError as error:
        request.api_error = error  # type: ignore[attr-defined]  # for the form that is shown again
        return None
    if isinstance(saved, VersionConflict):
        return conflict.show_conflict(request, model_admin, form)
    if saved.post.version > post.version:
        model_admin.log_change(request, saved.post, model_admin.construct_change_message(request, form, None))
    if page := writing.read_page(request.POST):  # the response replaces it
        presence.forget_page(actor=get_actor(request), post_id=str(post.pk), page=page)
    return writing.name_saved_text(request, choose_next_page(request, model_admin, saved, edit))


def choose_next_page(request: HttpRequest, model_admin: PolicyAdmin, saved: Saved, edit: Edit) -> HttpResponse:
    """Return the page after a save, and show what the pressed button has done."""
    post = saved.post
    if edit.action is CopyAction.PUBLISH and saved.copy is not None:  # a page shows first what it changes
        return HttpResponseRedirect(reverse("admin:blog_post_changes", args=[post.pk]))
    if isinstance(edit.action, StateAction):
        message = describe_result(edit.action, post)
    elif edit.copy_version is not None:
        copy_address = reverse("admin:blog_post_copy", args=[post.pk, edit.copy_version])
        message = format_html(RESULTS[edit.action], link_post(post), copy_address)
    else:
        response: HttpResponse = model_admin.response_change(request, post)
        return response
    model_admin.message_user(request, message, messages.SUCCESS)
    stays = "_continue" in request.POST
    return HttpResponseRedirect(request.path) if stays else model_admin.response_post_save_change(request, post)


def create_post(actor: Actor, row: Post, form: PostForm) -> Post:
    """Create the post that the form describes, in the state of the pressed button."""
    state: dict[str, Any] = {}
    action = read_action(form.data)
    if action is not None:
        if action not in NEW_POST:
            raise Malformed(f"A new post cannot have the action “{action}”.")
        state = {"status": TARGETS[action]}
    if action is StateAction.SCHEDULE:
        state["publish_at"] = form.cleaned_data["schedule_at"]
    content = {name: form.cleaned_data[name] for name in CONTENT if name in form.cleaned_data}
    author_id = str(row.author_id) if row.author_id else None
    coauthor_ids = list(map(str, form.cleaned_data.get("coauthor_ids", ())))
    return services.create_post(actor=actor, author_id=author_id, coauthor_ids=coauthor_ids, **content, **state)


@require_POST
def save_text(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Save a form in the background. Return the versions that it then shows, or what is wrong with which field.

    A new post becomes a draft, and the state of others does not change. By itself, the desk saves the text of drafts
    and working copies; by hand, it saves what the button "Save" does.
    """
    if object_id == NEW:
        # The id of the draft that the text is already, if the browser got no response
        object_id = str(request.session.get(CREATED, {}).get(request.POST.get("kept_text", ""), ""))
    post = model_admin.get_editable(request, object_id) if object_id else None
    if post is None and not model_admin.may_add(get_actor(request)):
        raise PermissionDenied
    form = build_form(request, model_admin, post)
    if not form.is_valid():
        return JsonResponse({"problem": describe_errors(form)}, status=Invalid.status)
    try:
        saved = (create_draft if post is None else save_in_background)(request, model_admin, form)
    except VersionConflict as error:
        return JsonResponse({"problem": error.message, "isConflict": True}, status=error.status)
    except ApiError as error:
        form.add_api_error(error)
        return JsonResponse({"problem": describe_errors(form)}, status=error.status)
    response = JsonResponse(saved)
    return writing.name_saved_text(request, response) if "leaving" in request.POST else response


def build_form(request: HttpRequest, model_admin: PolicyAdmin, post: Post | None) -> PostForm:
    """Return the form with what was sent, without a button. A new text without a title gets one."""
    form_class: type[PostForm] = model_admin.get_form(request, post, change=post is not None)
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


def describe_errors(form: PostForm) -> str:
    """Return the rules that the form breaks, each with the label of its field."""
    problems = ((name, text) for name, texts in form.errors.items() for text in texts)
    return " ".join(f"{form[name].label}: {text}" if name in form.fields else str(text) for name, text in problems)


def create_draft(request: HttpRequest, model_admin: PolicyAdmin, form: PostForm) -> dict[str, Any]:
    """Create a draft. Return its versions and title, its id and the addresses at which the form is saved now."""
    post = create_post(get_actor(request), form.instance, form)
    model_admin.log_addition(request, post, [{"added": {}}])
    created = request.session.get(CREATED, {})
    latest = dict(list(created.items())[-MOST_CREATED:])
    request.session[CREATED] = {**latest, request.POST.get("kept_text", ""): str(post.pk)}
    pages = {name: reverse(f"admin:blog_post_{name}", args=[post.pk]) for name in ("autosave", "change")}
    return describe_save(list_versions(post, None), vars(post)) | {"post": {"id": str(post.pk), **pages}}


def save_in_background(request: HttpRequest, model_admin: PolicyAdmin, form: PostForm) -> dict[str, Any]:
    """Save a form. Return its hidden fields, and the addresses that were made from the title."""
    edit = form.read_edit()
    if "by_hand" not in request.POST:
        edit = keep_text(form.instance, edit)
    is_copy = edit.copy_version is not None
    versions, content = {name: form.data.get(name, "") for name in OPENED}, vars(form.instance)
    if is_copy or edit.changes:
        saved = services.save_edit(get_actor(request), str(form.instance.pk), edit)
        if isinstance(saved, VersionConflict):
            raise saved
        if edit.changes.keys() - CONTENT:
            versions["opened_post"] = saved.post.version
        if saved.copy is not None:
            versions["opened_copy"], content = saved.copy.version, saved.copy.content
        elif is_copy:
            content = {}
        else:
            versions["opened_version"], content = saved.post.version, vars(saved.post)
    return describe_save(versions, content)


def keep_text(post: Post, edit: Edit) -> Edit:
    """Return the part of an edit that the desk saves by itself: the text of a draft or of a working copy.

    Raises `VersionConflict` for the text of a draft that somebody has published meanwhile: it is not saved.
    """
    if edit.copy_version is None and post.status != PostStatus.DRAFT:
        if edit.changes:
            require_version("post", post.version, edit.version)
        return edit._replace(changes={})
    return edit._replace(changes={name: value for name, value in edit.changes.items() if name in CONTENT})


def describe_save(versions: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    addresses = {name: content[name] or "" for name in ("title", *ADDRESSES) if name in content}
    return {"versions": versions, "addresses": addresses, "saved_at": timezone.now().isoformat()}
