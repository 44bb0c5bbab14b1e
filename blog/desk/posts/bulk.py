"""Actions of the list on the selected posts: to change their states, and to delete them.

One post is changed at once; more than one after a confirmation, in slices. The page that asks for it has the ids of the
posts, and sends them in requests of `SLICE` posts (blog/static/blog/bulk.js). So no request takes long, the page shows
the progress, and a person who stops or leaves keeps what is done. Without the script, the button does one slice.

Each post has a transaction of its own. The services decide, and a post that they refuse does not affect the others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import action as list_action
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from blog import services, states
from blog.desk.local_times import LocalTimeField
from blog.desk.posts.history import build_log_message
from blog.desk.posts.states import LABELS, describe_result, describe_state
from blog.history.versions import RESTORABLE_FOR
from blog.models import Post, PostStatus
from blog.states import Act
from contentapi.core import policy
from contentapi.core.errors import Conflict, Invalid, Malformed, NotFound
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from users.desk.actions import Outcome, collect_outcome, report_refused
from users.desk.bases import Page, PolicyAdmin, get_actor
from users.desk.lists import BoundedPaginator
from users.desk.rendering import render_time

MAX_SELECTED = BoundedPaginator.MAX_ROWS  # posts of one action: those that the list can show
SLICE = 50  # posts of one request
NAMED = 100  # posts that the page names


@dataclass(frozen=True, slots=True)
class BulkAction:
    """An action of the list. `result` ends the message: "3 posts are archived." Without an act, it deletes."""

    name: str
    label: str
    title: str
    effect: str
    result: str
    act: Act | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether the action is confirmed for one post too."""
        return self.act in (None, Act.SCHEDULE)


# How the choice of the action names it, and what it does, as the page that asks for confirmation says it
LIST_LABELS: Mapping[Act, tuple[str, str]] = {
    Act.PUBLISH: ("Publish", "Everybody can read these posts at once."),
    Act.SCHEDULE: ("Schedule for…", "These posts become public by themselves at the time that you choose."),
    Act.UNPUBLISH: ("Unpublish", "These posts become drafts. Readers do not see them any more."),
    Act.ARCHIVE: ("Archive", "These posts are put away. Readers do not see them."),
    Act.UNARCHIVE: ("Take out of the archive", "These posts become drafts."),
    Act.PUBLISH_AGAIN: ("Publish again", "These posts leave the archive, and everybody can read them at once."),
}
DELETION = BulkAction(
    name="delete_selected",  # as Django's action
    label="Delete",
    title="Delete",
    effect="These posts and their comments are deleted. For "
    f"{RESTORABLE_FOR.days} days you can restore them: “Deleted posts” above the list. Then they are gone for good.",
    result="deleted",
)
ACTIONS = [
    *[
        BulkAction(act.value, label, LABELS[act], effect, act.label, act)
        for act, (label, effect) in LIST_LABELS.items()
    ],
    DELETION,
]


def list_actions(actor: Actor) -> list[BulkAction]:
    """Return the actions that the actor may do to some posts."""
    if not policy.may_write_posts(actor):
        return []
    acts = {None, *states.list_acts_on_some(actor)}
    return [action for action in ACTIONS if action.act in acts]


class ScheduleForm(forms.Form):
    """The time for an action of the list."""

    schedule_at = LocalTimeField(label="Publish at", required=True)

    def clean_schedule_at(self) -> datetime | None:
        time: datetime | None = self.cleaned_data["schedule_at"]
        try:
            services.validate_publish_at(PostStatus.SCHEDULED, time)
        except Invalid as error:
            raise forms.ValidationError(list(error.fields["publishAt"])) from None
        return time


def begin_action(
    request: HttpRequest, desk: PolicyAdmin, rows: models.QuerySet[Post], action: BulkAction
) -> HttpResponse | None:
    """Do an action to one selected post; ask for confirmation if there are more, or for a time."""
    ids = list(rows.values_list("pk", flat=True)[: MAX_SELECTED + 1])
    if len(ids) > 1 or action.is_confirmed:
        form = ScheduleForm() if action.act is Act.SCHEDULE else None
        return confirm_action(request, desk, action, ids, form, request.get_full_path())
    report(request, desk, action, do_action(request, desk, action, ids, None))
    return None


def confirm_action(
    request: HttpRequest, desk: PolicyAdmin, action: BulkAction, ids: Sequence[int], form: forms.Form | None, back: str
) -> HttpResponse:
    """Show what the action does to which posts: at most the first `MAX_SELECTED`."""
    selected = ids[:MAX_SELECTED]
    named = find_posts(request, desk, selected[:NAMED])
    context = {
        "title": f"{action.title}: {count_posts(len(selected))}",
        "action": action,
        "selected": ",".join(map(str, selected)),
        "limit": MAX_SELECTED if len(ids) > MAX_SELECTED else None,
        "slice": SLICE,
        "posts": [(post, describe_state(post)) for post in named],
        "others": len(selected) - len(named),
        "form": form,
        "media": form.media if form else "",
        "back": back,
    }
    return desk.render(request, "admin/blog/post/confirm_act.html", context)


@require_POST
def do_slice(request: HttpRequest, desk: PolicyAdmin, name: str) -> HttpResponse:
    """Do a confirmed action to the first `SLICE` of some posts. Return the outcome, or a page for the others."""
    action = next((each for each in list_actions(get_actor(request)) if each.name == name), None)
    if action is None:
        raise NotFound("There is no such action.")
    ids, back = read_ids(request.POST.get("posts", "")), read_list_address(request.POST.get("list", ""))
    is_script = request.accepts("application/json") and not request.accepts("text/html")
    form = ScheduleForm(request.POST) if action.act is Act.SCHEDULE else None
    if form and not form.is_valid():
        if is_script:
            return JsonResponse({"problem": " ".join(map(str, form.errors["schedule_at"]))}, status=Invalid.status)
        return confirm_action(request, desk, action, ids, form, back)
    outcome = do_action(request, desk, action, ids[:SLICE], form.cleaned_data["schedule_at"] if form else None)
    if is_script:
        return JsonResponse(build_outcome_document(outcome))
    report(request, desk, action, outcome)
    rest = ids[SLICE:]
    return confirm_action(request, desk, action, rest, form, back) if rest else HttpResponseRedirect(back)


def find_posts(request: HttpRequest, desk: PolicyAdmin, ids: Sequence[int]) -> list[Post]:
    """Return those of the posts that the person may change, in the order of the ids."""
    rows = desk.select_rows(get_actor(request)).filter(pk__in=ids).select_related("author").defer("body")
    found = {row.pk: row for row in rows}
    return [found[pk] for pk in ids if pk in found]


def do_action(
    request: HttpRequest, desk: PolicyAdmin, action: BulkAction, ids: Sequence[int], publish_at: datetime | None
) -> Outcome:
    """Do an action to each post in a transaction of its own."""
    actor = get_actor(request)

    def do_one(post: Post) -> Post:
        if action.act is None:
            desk.log_deletions(request, [post])
            services.delete_post(actor=actor, post_id=str(post.pk))
            return post
        changed = states.change_state(actor=actor, post_id=str(post.pk), act=action.act, publish_at=publish_at)
        if changed.version == post.version:
            raise Conflict(f"It is {changed.status} already.")
        desk.log_change(request, changed, build_log_message(request, changed, post.version))
        return changed

    posts = find_posts(request, desk, ids)
    outcome = collect_outcome(posts, do_one)
    for missing in set(ids) - {post.pk for post in posts}:
        outcome.refuse(f"Post {missing}", "It is deleted, or you may not change it any more.")
    return outcome


def report(request: HttpRequest, desk: PolicyAdmin, action: BulkAction, outcome: Outcome) -> None:
    """Show how many posts were changed, and name the others with the reasons."""
    done = outcome.done
    if len(done) == 1 and action.act is not None:
        desk.message_user(request, describe_result(action.act, done[0]), messages.SUCCESS)
    elif done:
        time = format_html(" for {}", render_time(done[0].publish_at)) if action.act is Act.SCHEDULE else ""
        verb = "is" if len(done) == 1 else "are"
        text = format_html("{} {} {}{}.", count_posts(len(done)), verb, action.result, time)
        desk.message_user(request, text, messages.SUCCESS)
    report_refused(request, action.result, outcome)


def build_list_actions(actor: Actor) -> dict[str, Any]:
    """Return the actions as Django's list has them: function, name and label by name."""
    return {action.name: (build_list_action(action), action.name, action.label) for action in list_actions(actor)}


def build_list_action(action: BulkAction) -> Callable[[PolicyAdmin, HttpRequest, Any], HttpResponse | None]:
    @list_action(description=action.label)
    def begin(desk: PolicyAdmin, request: HttpRequest, rows: Any) -> HttpResponse | None:
        return begin_action(request, desk, rows, action)

    return begin


def build_outcome_document(outcome: Outcome) -> dict[str, Any]:
    """Return what the script reads: the number of posts that were changed, and the others by the reason."""
    return {
        "done": len(outcome.done),
        "refused": [
            {"reason": reason, "posts": [{"id": getattr(post, "pk", None), "title": str(post)} for post in posts]}
            for reason, posts in outcome.refused.items()
        ],
    }


def read_ids(text: str) -> list[int]:
    """Return the ids of a form, each once. Raises `Malformed`."""
    ids = list(dict.fromkeys(parse_id(part) for part in text.split(",")))
    if 0 in ids or len(ids) > MAX_SELECTED:
        raise Malformed(f"Select from 1 to {MAX_SELECTED:,} posts.")
    return ids


def read_list_address(text: str) -> str:
    """Return the address of the list that the action began in: a path of this server, never another site."""
    address = reverse("admin:blog_post_changelist")
    return text if text.startswith(address) else address


def count_posts(number: int) -> str:
    return f"{number:,} post" if number == 1 else f"{number:,} posts"


PAGES = [Page("bulk/<str:name>/", "bulk", do_slice)]
