"""The page for an editor whose post was changed or deleted by somebody else while it was open."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from blog import selectors
from blog.desk.posts.form import OPENED, OWN, PostForm, list_versions, read_action
from blog.desk.posts.history import LABELS, describe_changes, describe_person, describe_value
from blog.desk.posts.states import list_copy_buttons, list_state_buttons
from blog.desk.queries import name_authors
from blog.history import conflicts, versions
from blog.history.conflicts import EditConflict
from blog.history.differences import compare_texts
from blog.models import CONTENT_FIELDS, POST_OWN, Kind, Post, WorkingCopy
from blog.services import CopyAction
from blog.services.working_copies import find_visible_copy
from contentapi.auth.sessions import get_actor
from contentapi.core.errors import ApiError, NotFound, VersionConflict, require_found
from contentapi.core.identity import Actor
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.forms import split_lines

# The fields that a person can merge by hand
MERGED = [*(field.name for field in CONTENT_FIELDS if field.name != "body"), *OWN, "body"]
CHOSEN = [name for name in MERGED if name not in ("own", "body")]
BUTTONS = {"_save", "_continue", "_addanother", "_act", "_merged"}
NOT_SENT_AGAIN = {"csrfmiddlewaretoken", *OPENED, *BUTTONS}


def show_conflict(request: HttpRequest, model_admin: PolicyAdmin, form: PostForm) -> HttpResponse:
    """Show who changed what, both texts, the difference, and what the person can do."""
    actor = get_actor(request)
    post_id, mine = form.instance.pk, form.cleaned_data
    # The versions before the texts: what somebody saves between the two is a conflict of the next save.
    post = require_found(selectors.posts.find_post(actor, str(post_id)), "post")
    copy = find_visible_copy(actor, post)
    opened = list_versions(post, copy)
    conflict = conflicts.read_conflict(actor=actor, post_id=str(post_id), opened=mine["opened_version"])
    if copy is not None and copy.version != mine["opened_copy"]:
        conflict = conflicts.compare_with_copy(conflict, copy)
    opened["opened_version"] = mine["opened_version"] if conflict.is_of_copy else post.version
    other = conflict.present
    name = other.made.person or other.made.origin or "somebody else"
    merged = conflicts.merge_post(conflict, mine, their_name=name)
    merge_form = type(form)(instance=Post(pk=post_id), initial=merged.values)
    merged_names = [*(name for name in ("coauthor_ids",) if name in merge_form.fields), *MERGED]
    context = {
        "title": f"“{other.values['title']}” has changed since you opened it",
        "post_id": post_id,
        "conflict": conflict,
        "other_name": name,
        "newer": [(version, describe_person(version.made), describe_changes(version)) for version in conflict.newer],
        "fields": list(list_fields(conflict, mine)),
        "my_difference": compare_texts(*(text.replace("\r\n", "\n") for text in (other.values["body"], mine["body"]))),
        "my_body": mine["body"],
        "merged": merged,
        "merge_fields": [merge_form[name] for name in merged_names],
        "sent": [*opened.items(), *list_sent(request, set())],
        "sent_beside_merged": [*opened.items(), *list_sent(request, set(merged_names))],
        "button": choose_button(actor, form, post, copy),
        "media": merge_form.media,
    }
    return render_conflict(request, model_admin, "conflict", context, VersionConflict.status)


def choose_button(actor: Actor, form: PostForm, post: Post, copy: WorkingCopy | None) -> Mapping[str, str]:
    """Return the button that the person pressed, if the present state still allows its action; else “Save”.

    Discarding is not among them: a person who wanted to discard the changes sees the other text first.
    """
    action, buttons = read_action(form.data), [*list_copy_buttons(actor, post, copy), *list_state_buttons(actor, post)]
    then = {button.action: f" and {button.label.lower()}" for button in buttons if button.action != CopyAction.DISCARD}
    then[CopyAction.PUBLISH] = " and publish it"
    if action not in then:
        return {"name": "_save", "value": "Save", "then": ""}
    return {"name": "_act", "value": action, "then": then[action]}


@require_POST
def take_over(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Show the text of a person who takes over the other version, so that they can copy from it."""
    if selectors.posts.find_post(get_actor(request), object_id) is None:
        return show_deletion(request, model_admin, object_id)  # which shows the text too
    context = {"title": "You keep the other version", "post_id": object_id}
    return render_conflict(request, model_admin, "taken_over", context)


def show_deletion(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Show the text that was sent for a post that does not exist any more, or that the person may not see."""
    context: dict[str, Any] = {"title": "This post does not exist any more", "post_id": object_id}
    try:
        page = versions.list_versions(actor=get_actor(request), post_id=object_id, limit=1)
    except ApiError:
        page = None
    if page and page.versions and (deletion := page.versions[0].deletion):
        context |= {"deletion": deletion, "person": describe_person(deletion)}
    return render_conflict(request, model_admin, "gone", context, NotFound.status)


def render_conflict(
    request: HttpRequest, model_admin: PolicyAdmin, page: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    sent = {"my_body": request.POST.get("body", ""), "my_values": list(list_sent_content(request))}
    return model_admin.render(request, f"admin/blog/post/{page}.html", sent | context, status=status)


def list_sent_content(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Yield the label and the value of each field of the content but the body, as the browser sent them."""
    yield from ((field.name, request.POST.get(f"own_{name}", "")) for name, field in POST_OWN.fields.items())
    for name, kind, label, *_ in CONTENT_FIELDS:
        sent = request.POST.getlist(name)
        if kind == Kind.WORDS:
            sent = [word for text in sent for word in split_lines(text)]
        if kind != Kind.MARKDOWN and (sent or kind != Kind.WORDS):
            yield label.capitalize(), ", ".join(sent)


def list_sent(request: HttpRequest, left_out: set[str]) -> list[tuple[str, str]]:
    """Return the values of the form as the browser sent them, to send them again."""
    names = [name for name in request.POST if name not in NOT_SENT_AGAIN | left_out]
    return [(name, str(value)) for name in names for value in request.POST.getlist(name)]


def list_fields(conflict: EditConflict, mine: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield the label, opened value, theirs and mine (else the opened one) of each field but the body that differs."""
    theirs = conflict.present.values
    opened = conflict.opened.values if conflict.opened else theirs
    for name in (*CHOSEN, "status", "publish_at", "published_at"):
        my_value = mine.get(name, opened[name])
        if not opened[name] == theirs[name] == my_value:
            yield LABELS[name], *(describe_value(name, value) for value in (opened[name], theirs[name], my_value))
    own = theirs["own"] | mine.get("own", {})
    for field in POST_OWN.fields.values():
        values = [each.get(field.name) for each in (opened["own"], theirs["own"], own)]
        if any(value != values[0] for value in values):
            yield field.name, *(describe_value(field.name, value) for value in values)
    for change in conflict.changes:
        if change.name == "author":
            yield LABELS["author"], change.old, change.new, change.old
        elif change.name == "coauthor_ids":
            my_names = name_authors(mine["coauthor_ids"]) if "coauthor_ids" in mine else change.old
            yield LABELS["coauthor_ids"], ", ".join(change.old), ", ".join(change.new), ", ".join(my_names)
