"""Preview links below the form of a post: open the site with one, copy one for a reviewer, revoke them."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from blog import selectors, services
from blog.models import MAX_NOTE, Post
from contentapi.auth.sessions import read_secret, store_secret
from contentapi.conf.timeouts import OWN_PREVIEW_LIFETIME
from contentapi.core.errors import ApiError, require_found
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.desk.bases import PolicyAdmin, get_actor
from contentapi.desk.rendering import describe_error

DAYS = (1, 3, 7, 30)  # that a link for a reviewer may be valid
OWN_NOTE = "Preview on the site"
OPENED = "preview_tokens"  # a secret of a session: the token of the last link of this person for each post
MOST_OPENED = 10


def build_preview_links(actor: Actor, post: Post) -> dict[str, Any]:
    """Return the valid links of a post, and what the buttons for new ones need."""
    sites = [site.name for site in services.list_preview_sites()] or [services.PAGE]
    links = selectors.select_preview_links(actor, str(post.pk)).queryset().select_related("maker")
    return {"preview_links": list(links), "preview_sites": sites, "preview_days": DAYS, "max_note": MAX_NOTE}


@never_cache
@require_POST
def open_preview(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Lead to a web site that shows the post. A valid link of the same person is used again.

    The page leads there, not a redirect: the policy of the desk lets no form be sent to another site.
    """
    opened = read_secret(request.session, OPENED) or {}
    created = find_opened_link(request, object_id, opened.get(object_id)) or create_own_link(request, object_id)
    store_secret(request.session, OPENED, {**dict(list(opened.items())[-MOST_OPENED:]), object_id: created.token})
    shown = {"title": "Preview on the site", "url": choose_address(created, request.POST.get("site", ""))}
    response: HttpResponse = model_admin.render(request, "admin/blog/post/preview_open.html", shown)
    response["Referrer-Policy"] = "no-referrer"
    return response


def choose_address(created: services.CreatedLink, site: str) -> str:
    addresses = {address.name: address.url for address in created.addresses}
    return addresses.get(site, created.url)


def find_opened_link(request: HttpRequest, post_id: str, token: str | None) -> services.CreatedLink | None:
    """Return the link of the token that the session has for a post, if it is still valid for most of its time."""
    return services.find_valid_link(actor=get_actor(request), post_id=post_id, token=token) if token else None


def create_own_link(request: HttpRequest, post_id: str) -> services.CreatedLink:
    return services.create_preview_link(
        actor=get_actor(request), post_id=post_id, expires_in=OWN_PREVIEW_LIFETIME, note=OWN_NOTE
    )


@never_cache
@require_POST
def create_link(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Create a link for a reviewer. Return the section with it, which a script puts below the form."""
    actor = get_actor(request)
    post = model_admin.get_object(request, object_id)
    days = parse_id(request.POST.get("days", ""))
    note = request.POST.get("note", "")
    shown: dict[str, Any] = {}
    status = 200
    try:
        created = services.create_preview_link(actor=actor, post_id=object_id, expires_in=days * 24 * 3600, note=note)
        shown["created"] = created
    except ApiError as error:
        shown["problem"], status = describe_error(error), error.status
    context = {"original": post, **shown, **build_preview_links(actor, post)}
    return render(request, "blog/preview_links.html", context, status=status)


def revoke_link(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, link_id: str) -> HttpResponse:
    """Ask, and then revoke a preview link."""
    if request.method != "POST":
        return ask_before_revocation(request, model_admin, object_id, link_id)
    services.revoke_preview_link(actor=get_actor(request), link_id=link_id)
    model_admin.message_user(request, "The preview link is revoked. It shows nothing any more.", messages.SUCCESS)
    return HttpResponseRedirect(name_section(object_id))


def ask_before_revocation(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, link_id: str) -> HttpResponse:
    links = selectors.select_preview_links(get_actor(request), object_id).queryset()
    link = require_found(links.filter(pk=parse_id(link_id)).first(), "preview link")
    action = {"label": "Revoke", "help": "The link shows nothing any more, to anybody.", "is_dangerous": True}
    title = f"Revoke the preview link “{link.note or link.pk}”?"
    shown = {"title": title, "action": action, "back": name_section(object_id), "media": model_admin.media}
    return model_admin.render(request, "desk/action.html", shown)


def name_section(post_id: str) -> str:
    return f"{reverse('admin:blog_post_change', args=[post_id])}#preview-links"
