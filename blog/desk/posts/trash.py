"""Deleted posts in the desk: search them, and restore one, selected ones, or all posts of an import that was undone."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST

from blog.desk.posts.history import describe_person, read_position
from blog.files import jobs
from blog.history import trash
from blog.history.versions import select_deleted_posts
from blog.models import ImportJob, Post, PostStatus, PostVersion
from contentapi.auth.people import name_users
from contentapi.auth.sessions import get_actor
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.desk import actions
from contentapi.desk.bases import PolicyAdmin


def show_deleted_posts(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Show the deleted posts that the person may restore, the last first. Without a search, an import is one line."""
    actor, search = get_actor(request), request.GET.get("q", "").strip()
    chosen, undone = read_position(request, "import"), jobs.find_undone_posts()
    if chosen:
        condition = Q(id__in=[post for post, job in undone.items() if job == chosen])
    else:
        condition = Q(title__folded=search) if search else ~Q(id__in=list(undone))
    before = read_position(request, "before")
    posts, next_before = trash.list_deleted_posts(actor=actor, before=before, condition=condition)
    counts = Counter(
        undone[pk] for pk in select_deleted_posts(actor).filter(id__in=list(undone)).values_list("id", flat=True)
    )
    imports = [] if search or chosen else list(ImportJob.objects.filter(pk__in=counts).order_by("-updated_at"))
    names = name_users(job.undone_by for job in imports)
    context = {
        "title": "Deleted posts",
        "posts": [(post, describe_person(post["deletion"])) for post in posts],
        "next_before": next_before,
        "imports": [(job, counts[job.pk], names.get(job.undone_by or 0, "")) for job in imports],
        "search": search,
        "chosen": chosen,
    }
    return model_admin.render(request, "admin/blog/post/deleted.html", context)


@require_POST
def restore_posts(request: HttpRequest, model_admin: PolicyAdmin, object_id: str = "") -> HttpResponse:
    """Restore one deleted post, the selected ones, or those of an undone import; first ask if there is a public one."""
    if "ids" in request.POST:
        return actions.perform_slice(request, model_admin, RESTORE)
    back, ids = model_admin.get_address("deleted"), list_chosen(request, object_id)
    found = select_deleted_posts(get_actor(request)).filter(id__in=ids)
    if len(ids) >= RESTORE.confirmed_from or found.filter(status=PostStatus.PUBLISHED).exists():
        address = model_admin.get_address("restore_selected")
        return actions.ask(request, model_admin, RESTORE, ids, forms.Form(), address, back)
    if ids:
        outcome = actions.perform_on_ids(request, model_admin, RESTORE, ids, {})
        actions.report(request, model_admin, RESTORE, outcome)
    else:
        messages.warning(request, "Select posts first.")
    return HttpResponseRedirect(back)


def list_chosen(request: HttpRequest, object_id: str) -> list[int]:
    """Return the ids of the posts that a button or the selection names."""
    job_id = parse_id(request.POST.get("import", ""))
    if job_id and not object_id:
        return [post for post, job in jobs.find_undone_posts().items() if job == job_id]
    return list(filter(None, map(parse_id, [object_id] if object_id else request.POST.getlist("post"))))


def restore_post(actor: Actor, row: PostVersion, _: Mapping[str, Any]) -> Post:
    post = trash.restore_deleted_post(actor=actor, post_id=str(row.id))
    jobs.note_restored(post.pk)
    return post


def describe_deleted(row: Any) -> str:
    """Return what the page before a restoration says about a post."""
    is_public = row.status == PostStatus.PUBLISHED
    return f"by {row.author_name or 'a deleted author'}{', public again at once' if is_public else ''}"


RESTORE = actions.Action(
    name="restore",
    label="Restore",
    done="Restored",
    help="Readers find posts that were public, and the addresses that they had, again at once.",
    perform=restore_post,
)
