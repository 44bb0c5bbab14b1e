"""Deleted posts in the desk: search them, and restore one, selected ones, or all posts of an import that was undone."""

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from time import monotonic

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from blog.desk.posts.history import describe_person, read_position
from blog.files import undoing
from blog.history import trash
from blog.history.versions import select_deleted_posts
from blog.models import Author, ImportJob, Post, PostStatus, PostVersion
from contentapi.auth.people import name_users
from contentapi.core.pagination import parse_id
from contentapi.desk.actions import Outcome, collect_outcome, report_refused
from contentapi.desk.bases import PolicyAdmin, get_actor

MOST_NAMES = 10  # of public posts that the page before a restoration names
LONGEST_REQUEST = 10  # seconds, in which a request restores posts
RESTORED = "Restored after its deletion."  # in the log of the admin


def show_deleted_posts(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Show the deleted posts that the person may restore, the last deleted first. An undone import is one line.

    A search, and the list of one import, have each post.
    """
    actor, search = get_actor(request), request.GET.get("q", "").strip()
    chosen, undone = read_position(request, "import"), undoing.find_undone_posts()
    if chosen:
        condition = Q(id__in=[post for post, job in undone.items() if job == chosen])
    else:
        condition = Q(title__folded=search) if search else ~Q(id__in=list(undone))
    page = trash.list_deleted_posts(actor=actor, before=read_position(request, "before"), condition=condition)
    counts = Counter(
        undone[pk] for pk in select_deleted_posts(actor).filter(id__in=list(undone)).values_list("id", flat=True)
    )
    jobs = [] if search or chosen else list(ImportJob.objects.filter(pk__in=counts).order_by("-updated_at"))
    names = name_users(job.undone_by for job in jobs)
    context = {
        "title": "Deleted posts",
        "page": page,
        "posts": [(post, describe_person(post.deletion)) for post in page.posts],
        "imports": [(job, counts[job.pk], names.get(job.undone_by or 0, "")) for job in jobs],
        "search": search,
        "chosen": chosen,
    }
    return model_admin.render(request, "admin/blog/post/deleted.html", context)


class RestoredForm(forms.Form):
    """What the page that asks before posts are public again sends once more."""

    post = forms.MultipleChoiceField(widget=forms.MultipleHiddenInput)
    confirmed = forms.CharField(widget=forms.HiddenInput)


def ask_before_publication(
    request: HttpRequest, model_admin: PolicyAdmin, rows: Sequence[PostVersion]
) -> HttpResponse | None:
    """Return the page that names the posts that would be public at once. None if it has none, or was confirmed."""
    public = [row for row in rows if row.status == PostStatus.PUBLISHED]
    if not public or "confirmed" in request.POST:
        return None
    context = {
        "title": "Restore this public post?" if len(rows) == 1 else f"Restore {len(rows):,} posts?",
        "description": f"Public again at once: {name_posts(public)}.",
        "action": {"label": "Restore", "help": "Its readers and the addresses that it had find it again."},
        "form": RestoredForm(initial={"post": [row.id for row in rows], "confirmed": "yes"}),
        "back": reverse("admin:blog_post_deleted"),
    }
    return model_admin.render(request, "desk/action.html", context)


def name_posts(rows: Sequence[PostVersion]) -> str:
    """Return the titles of the first posts with their authors, and the number of the others."""
    authors = Author.objects.in_bulk([row.author_id for row in rows])
    named = [f"“{row.title}” by {authors.get(row.author_id, 'a deleted author')}" for row in rows[:MOST_NAMES]]
    more = f" and {len(rows) - MOST_NAMES:,} more" if len(rows) > MOST_NAMES else ""
    return ", ".join(named) + more


@require_POST
def restore_posts(request: HttpRequest, model_admin: PolicyAdmin, object_id: str = "") -> HttpResponse:
    """Restore one deleted post, the selected ones, or those of an undone import: as many as one request can."""
    actor, job_id = get_actor(request), None if object_id else parse_id(request.POST.get("import", ""))
    ids = [parse_id(text) for text in ([object_id] if object_id else request.POST.getlist("post"))]
    if job_id:
        ids = [post for post, job in undoing.find_undone_posts().items() if job == job_id]
    rows = list(select_deleted_posts(actor).filter(id__in=ids).order_by("pgh_id"))
    if not job_id and (question := ask_before_publication(request, model_admin, rows)):
        return question
    end = monotonic() + LONGEST_REQUEST

    def restore(row: PostVersion) -> Post:
        return trash.restore_deleted_post(actor=actor, post_id=str(row.id))

    tried = takewhile(lambda _: monotonic() < end, rows)
    outcome = collect_outcome(tried, restore, lambda post: model_admin.log_change(request, post, RESTORED))
    undoing.note_restored([post.pk for post in outcome.done])
    report_refused(request, "restored", outcome)
    if object_id and outcome.done:
        [post] = outcome.done
        state = post.get_status_display().lower()
        model_admin.message_user(request, f"The post “{post.title}” is restored. It is {state}.")
        return HttpResponseRedirect(reverse("admin:blog_post_change", args=[post.pk]))
    report_number(request, len(ids), len(rows), outcome)
    return HttpResponseRedirect(reverse("admin:blog_post_deleted"))


def report_number(request: HttpRequest, chosen: int, found: int, outcome: Outcome) -> None:
    """Show how many of the chosen posts are restored, and how many the request had no time for."""
    number, refused = len(outcome.done), sum(map(len, outcome.refused.values()))
    left = found - number - refused
    more = f" {left:,} are left: restore them, too." if left else ""
    message = f"{number:,} post{' is' if number == 1 else 's are'} restored.{more}" if chosen else "Select posts first."
    if number:
        messages.success(request, message)
    elif not refused:
        messages.warning(request, message)
