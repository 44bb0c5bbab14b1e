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
from blog.services.previews import PAGE, find_valid_link, list_preview_sites
from contentapi.auth.sessions import get_actor, read_secret, store_secret
from contentapi.conf.timeouts import OWN_PREVIEW_LIFETIME
from contentapi.core.errors import ApiError, require_found
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.rendering import describe_error

DAYS = (1, 3, 7, 30)  # that a link for a reviewer may be valid
OWN_NOTE = "Preview on the site"
OPENED = "preview_tokens"  # a secret of a session: the token of the last link of this person for each post
MOST_OPENED = 10


def build_preview_links(actor: Actor, post: Post) -> dict[str, Any]:
    """Return the valid links of a post, and what the buttons for new ones need."""
    sites = [site.name for site in list_preview_sites()] or [PAGE]
    links = selectors.previews.select_preview_links(actor, str(post.pk)).queryset().select_related("maker")
    return {"preview_links": list(links), "preview_sites": sites, "preview_days": DAYS, "max_note": MAX_NOTE}


@never_cache
@require_POST
def open_preview(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Lead to a web site that shows the post. A valid link of the same person is used again."""
    opened = read_secret(request.session, OPENED) or {}
    options: dict[str, Any] = {"actor": get_actor(request), "post_id": object_id}
    created = find_valid_link(**options, token=opened.get(object_id, ""))
    if created is None:
        created = services.create_preview_link(**options, expires_in=OWN_PREVIEW_LIFETIME, note=OWN_NOTE)
    latest = dict(list(opened.items())[-MOST_OPENED:])
    store_secret(request.session, OPENED, {**latest, object_id: created.token})
    addresses = {address.name: address.url for address in created.addresses}
    site = request.POST.get("site", "")
    url = addresses.get(site, created.url)
    # The page leads there, not a redirect: the policy of the desk lets no form be sent to another site.
    context = {"title": "Preview on the site", "url": url}
    response = model_admin.render(request, "admin/blog/post/preview_open.html", context)
    response["Referrer-Policy"] = "no-referrer"
    return response


@never_cache
@require_POST
def create_link(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Create a link for a reviewer. Return the section with it, which a script puts below the form."""
    actor = get_actor(request)
    post = model_admin.get_object(request, object_id)
    lifetime, note = parse_id(request.POST.get("days", "")) * 24 * 3600, request.POST.get("note", "")
    context, status = {"original": post}, 200
    try:
        created = services.create_preview_link(actor=actor, post_id=object_id, expires_in=lifetime, note=note)
        context["created"] = created
    except ApiError as error:
        context["problem"], status = describe_error(error), error.status
    context |= build_preview_links(actor, post)
    return render(request, "blog/preview_links.html", context, status=status)


def revoke_link(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, link_id: str) -> HttpResponse:
    """Ask, and then revoke a preview link."""
    back = f"{reverse('admin:blog_post_change', args=[object_id])}#preview-links"
    if request.method != "POST":
        links = selectors.previews.select_preview_links(get_actor(request), object_id).queryset()
        link = require_found(links.filter(pk=parse_id(link_id)).first(), "preview link")
        context = {
            "title": f"Revoke the preview link “{link.note or link.pk}”?",
            "action": {"label": "Revoke", "help": "The link shows nothing any more, to anybody.", "is_dangerous": True},
            "back": back,
        }
        return model_admin.render(request, "desk/action.html", context)
    services.revoke_preview_link(actor=get_actor(request), link_id=link_id)
    model_admin.message_user(request, "The preview link is revoked. It shows nothing any more.", messages.SUCCESS)
    return HttpResponseRedirect(back)
