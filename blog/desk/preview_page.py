"""The page at which people without an account read a preview link, where no web site shows it."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from blog import selectors, services
from blog.models import Author, Post
from contentapi.core.errors import ApiError
from contentapi.core.identity import ANONYMOUS
from contentapi.desk.pages import render_page
from contentapi.http.response import PRIVATE
from contentapi.rate_limits.account import Account
from contentapi.rate_limits.middleware import handles_rate_limit


@handles_rate_limit
@require_safe
def show_preview_page(request: HttpRequest) -> HttpResponse:
    """Render the text that the token in the address shows. The address is not logged, and no other site learns it."""
    account, headers = Account(request.META), PRIVATE
    try:
        actor = services.add_preview(ANONYMOUS, request.GET.get("token", ""))
        account.set_actor(actor)
        account.charge_request()
        post = selectors.previews.find_previewed_post(actor)
        response = render_page(request, "blog/preview_page.html", describe_preview(post), images="http: https:")
    except ApiError as refusal:
        error = account.charge_failure(refusal)
        headers = {**error.headers, **PRIVATE}
        context = {"message": error.message, "is_over_limit": "Retry-After" in headers}
        response = render_page(request, "blog/preview_ended.html", context, status=error.status)
    for name, value in {**account.headers, **headers, "Referrer-Policy": "no-referrer"}.items():
        response[name] = value
    return response


def describe_preview(post: Post | None) -> dict[str, Any]:
    """Return what the page shows of a post: its texts, its cover, and its author with the co-authors."""
    if post is None:
        return {}
    cover = services.find_shown_images([post.cover_id]).get(post.cover_id) if post.cover_id else None
    authors = [post.author, *Author.objects.in_order_of(post.coauthor_ids or [])]
    return {"post": post, "cover": cover, "authors": authors}
