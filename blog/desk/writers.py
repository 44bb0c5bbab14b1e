"""The choice of an author in a form: among authors, and among accounts that have no author profile yet."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from blog import policy, services
from blog.desk import queries
from contentapi.core.errors import Invalid
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_permission
from contentapi.desk.bases import PolicyAdmin, get_actor

ACCOUNT = "account-"  # before the id of a user, in the value of a field for an author
FIELDS = ("author", "coauthor_ids")


def offer_accounts(field: Any) -> Any:
    """Let a field with suggestions, if it is one, suggest what `suggest_writers` finds. Return the field."""
    widget = getattr(field.widget, "widget", field.widget)
    if hasattr(widget, "url_name"):
        widget.url_name = "%s:blog_author_choose"
    return field


@require_GET
def suggest_writers(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Return the authors whose name or email has a text, page by page, and after the last one the other accounts.

    The field for the account of an author gets accounts only.
    """
    actor, term = get_actor(request), request.GET.get("term", "")
    require_permission(actor, policy.may_manage_posts_and_authors(actor), "choose authors")
    is_account = request.GET.get("field_name") == "user"
    page = parse_id(request.GET.get("page", "")) or 1
    authors, has_more = ([], False) if is_account else queries.find_authors(actor, term, page)
    results = [{"id": str(author.pk), "text": author.name} for author in authors]
    if is_account:
        results = [{"id": str(user.pk), "text": user.name} for user in queries.find_accounts(term)]
    elif not has_more:
        accounts = queries.find_accounts(term)
        results += [{"id": f"{ACCOUNT}{user.pk}", "text": f"{user.name} (no author profile yet)"} for user in accounts]
    return JsonResponse({"results": results, "pagination": {"more": has_more}})


def create_chosen_profiles(request: HttpRequest) -> None:
    """Replace the accounts that a form has chosen as authors by their author profiles, which are created."""
    values = request.POST
    chosen = [name for name in FIELDS if any(value.startswith(ACCOUNT) for value in values.getlist(name))]
    if not chosen or not policy.may_manage_posts_and_authors(get_actor(request)):
        return
    changed = values.copy()
    for name in chosen:
        changed.setlist(name, [find_author_id(request, value) for value in values.getlist(name)])
    request.POST = changed  # type: ignore[assignment]  # mutable, as Django itself sets it


def find_author_id(request: HttpRequest, value: str) -> str:
    """Return the id of the author that a value of a form names; 0, which the field refuses, for no account."""
    if not value.startswith(ACCOUNT):
        return value
    try:
        author = services.get_or_create_profile(actor=get_actor(request), user_id=value.removeprefix(ACCOUNT))
    except Invalid:
        return "0"
    return str(author.pk)
