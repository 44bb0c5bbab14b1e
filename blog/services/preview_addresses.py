"""The addresses at which people open a preview link: of the web sites, or of a page of this server."""

import re
from typing import NamedTuple

from django.urls import reverse

from blog.models import Post, PreviewLink
from blog.services.previews import find_content
from contentapi.conf import conf

NAMED = re.compile(r"([\w-]+)=(https?://.*)")
UNNAMED, PAGE = "site", "page"  # the names of an address without one, and of the page of this server


class PreviewAddress(NamedTuple):
    name: str
    url: str


def list_preview_sites() -> list[PreviewAddress]:
    """Return the templates of CONTENTAPI_PREVIEW_URL, with their names."""
    entries = conf.environment.contentapi_preview_url.split()
    matches = [(entry, NAMED.fullmatch(entry)) for entry in entries]
    return [PreviewAddress(found[1], found[2]) if found else PreviewAddress(UNNAMED, entry) for entry, found in matches]


def list_preview_addresses(link: PreviewLink, token: str) -> list[PreviewAddress]:
    """Return the addresses of a link: one on each web site that CONTENTAPI_PREVIEW_URL names, and one of this server.

    The latter is the last one. Anyone with the link can read the text there, without an account.
    """
    post = Post.objects.select_related("working_copy").defer("body_html").get(pk=link.post_id)
    values = {"token": token, "id": str(post.pk), "slug": find_content(post, link)["slug"] or f"post-{post.pk}"}
    sites = [PreviewAddress(name, fill(template, values)) for name, template in list_preview_sites()]
    return [*sites, PreviewAddress(PAGE, f"{conf.origin}{reverse('preview_page')}?token={token}")]


def fill(template: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], template)
