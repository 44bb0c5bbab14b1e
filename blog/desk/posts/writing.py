"""What the scripts of the form of a post ask for: preview, tags, the session, kept texts, and who else has it open."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from blog import policy, selectors, services
from blog.desk import queries
from blog.desk.posts.form import LINES
from blog.models import MAX_BODY, Author, Post
from blog.services import presence
from contentapi.auth.sessions import get_actor
from contentapi.core.errors import ApiError, Invalid, Malformed, require_found
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_permission
from contentapi.core.text import require_storable
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.forms import split_lines
from contentapi.desk.rendering import describe_error

SAVED_TEXT_COOKIE = "saved_text"  # names the kept text that the browser can remove
KEPT_TEXT_ID = re.compile(r"kept-text:[0-9]+:(?:new|[0-9]+):[0-9a-f-]{36}")
THEMES = ("light", "dark")


@require_POST
def show_preview(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Return the post as readers see it, as a document in JSON: a page could not be opened by mistake."""
    actor = get_actor(request)
    require_permission(actor, policy.may_write_posts(actor), "write posts")
    try:
        context = build_preview(actor, request.POST.dict())
    except ApiError as error:
        return JsonResponse({"problem": describe_error(error)}, status=error.status)
    theme = request.POST.get("theme")
    context["theme"] = theme if theme in THEMES else THEMES[0]
    context["stylesheet"] = request.build_absolute_uri(static("blog/reading.css"))
    return JsonResponse({"document": render_to_string("blog/preview.html", context)})


@require_GET
def list_tags(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Return the suggestions for the beginning of a tag."""
    actor = get_actor(request)
    require_permission(actor, policy.may_write_posts(actor), "write posts")
    return JsonResponse({"tags": queries.suggest_tags(actor, request.GET.get("q", ""))})


@never_cache
@require_GET
def show_session(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Return who is logged in, and a CSRF token. A login in another tab has made the token of the form useless."""
    return JsonResponse({"user": str(request.user.pk), "token": get_token(request)})


def name_saved_text(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Add a cookie that names the text that the browser has kept and that is stored now. A script removes both."""
    kept = request.POST.get("kept_text", "")
    if KEPT_TEXT_ID.fullmatch(kept):
        response.set_cookie(
            SAVED_TEXT_COOKIE,
            kept,
            max_age=3600,
            path=reverse("admin:index"),
            secure=bool(settings.SESSION_COOKIE_SECURE),
            samesite="Lax",
        )
    return response


def build_preview(actor: Actor, values: dict[str, str]) -> dict[str, Any]:
    """Return what readers see of a form with these values. Raises `Invalid` and `NotFound`."""
    require_storable(values)
    body = values.get("body", "").replace("\r\n", "\n")
    if len(body) > MAX_BODY:
        raise Invalid({"body": [f"At most {MAX_BODY:,} characters are allowed (got {len(body):,})."]})
    post_id = values.get("post", "new")
    post = None
    if post_id != "new":
        post = require_found(selectors.posts.find_post(actor, post_id), "post")
    return {
        "title": values.get("title", "").strip(),
        "lines": [values.get(name, "").strip() for name in LINES if name != "title"],
        "author": find_author_of_preview(actor, post, values.get("author", "")),
        "tags": split_lines(values.get("tags", "")),
        "post": post,
        "html": services.render_body(body, with_lines=True),
    }


def find_author_of_preview(actor: Actor, post: Post | None, author_id: str) -> Author | None:
    """Return the author of the post, or the one that was chosen for a new post; by default the actor's profile."""
    if post is not None:
        return post.author
    if author_id and policy.may_manage_posts_and_authors(actor):
        return selectors.authors.find_author(actor, author_id)
    return queries.find_own_author(actor)


@require_POST
def announce_page(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Record that a page has opened or closed a post. Return who else has it open, and the last save (presence.js)."""
    actor = get_actor(request)
    page = read_page(request.POST)
    if page is None:
        raise Malformed("The page has no number.")
    if "closed" in request.POST:
        presence.forget_page(actor=actor, post_id=object_id, page=page)
        return HttpResponse(status=204)
    people = presence.announce_page(actor=actor, post_id=object_id, page=page)
    opened = parse_id(request.POST.get("opened_version", ""))
    sent = request.POST.get("opened_copy")
    copy = parse_id(sent) if sent else None
    save = presence.find_save(actor=actor, post_id=object_id, opened=opened, opened_copy=copy) if opened else None
    return JsonResponse({"people": [person._asdict() for person in people], "save": save and save._asdict()})


def read_page(sent: Mapping[str, Any]) -> UUID | None:
    """Return the number of the page that sent the values; None if it has none."""
    try:
        return UUID(str(sent.get("_page", "")))
    except ValueError:
        return None
