"""What a preview token shows: find its link, and the texts of the link; and the addresses that show it.

Each request with a token reads its link, with its maker and the author of its post, so that a link that has ended shows
nothing from the next request on, on every server. It is charged then, and reads the texts only if it reads posts.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import msgspec
from django.urls import reverse
from django.utils import timezone

from blog import policy
from blog.models import CONTENT, Post, PostVersion, PreviewLink, PreviewMode, WorkingCopy
from blog.rendering import Rendering, render_post
from blog.services.renderings import find_shown_images
from blog.services.working_copies import read_content
from contentapi.conf import conf
from contentapi.core.caching import BoundedCache
from contentapi.core.errors import PreviewExpired, Unauthenticated
from contentapi.core.identity import ROLE_SCOPES, Actor, Preview, Role, Scope
from contentapi.core.replicas import read_credential
from contentapi.projection import PreparedQuery

TOKEN = re.compile(r"cap_[0-9a-f]{64}")
NAMED = re.compile(r"([\w-]+)=(https?://.*)")
UNNAMED, PAGE = "site", "page"  # the names of an address without one, and of the page of this server
# A rendering weighs its texts. The key is a digest of what it was made of.
RENDERINGS: BoundedCache[Rendering] = BoundedCache(
    8 * 1024 * 1024, weigh=lambda rendering: 1000 + 2 * sum(map(len, rendering[:3])), name="previews"
)
# The texts of working copies as JSON, by their versions: a preview of the whole site shows all of them at each request.
COPIES: BoundedCache[bytes] = BoundedCache(32 * 1024 * 1024, weigh=len, name="working_copies")


def hash_token(token: str) -> bytes:
    """Return the digest of a token. It has 256 random bits, so guessing cannot reverse a plain hash."""
    return hashlib.sha256(token.encode()).digest()


class LinkRow(msgspec.Struct):
    """A link with its maker and the owner of its post, as the database has them now."""

    id: int
    post_id: int
    mode: str
    version: int | None
    expires_at: datetime
    maker_id: int
    role: Role
    is_active: bool
    owner_id: int | None


LINK = PreparedQuery(
    LinkRow,
    lambda given: PreviewLink.objects.filter(digest=given("digest")),
    {"role": "maker__role", "is_active": "maker__is_active", "owner_id": "post__author__user_id"},
)


def add_preview(actor: Actor, token: str) -> Actor:
    """Return the actor of a request with a preview token, beside the credential of an actor.

    A token of the mode `site` takes the place of the credential. Raises `Unauthenticated`, or `PreviewExpired`.
    """
    link, _ = read_credential(partial(find_link, token))
    maker = Actor(link.maker_id, link.role, ROLE_SCOPES[link.role], "preview", f"preview:{link.id}")
    is_site = link.mode == PreviewMode.SITE
    if not link.is_active or not policy.may_see_history_of(maker, link.owner_id):
        raise build_unknown_token_error()
    if is_site and not policy.may_preview_site(maker):
        raise build_unknown_token_error()
    if link.expires_at <= timezone.now():
        raise PreviewExpired("The preview token has expired.")
    read_texts = read_copies if is_site else partial(read_text, link)
    preview = Preview(link.id, link.post_id, link.maker_id, is_site, read_texts)
    if is_site:
        return replace(maker, scopes=frozenset({Scope.POSTS_READ}), preview=preview)
    return replace(actor, preview=preview)


def find_link(token: str) -> LinkRow:
    """Return the link of a token. Raises `Unauthenticated`."""
    link = LINK.first(digest=hash_token(token)) if TOKEN.fullmatch(token) else None
    if link is None:
        raise build_unknown_token_error()
    return link


def build_unknown_token_error() -> Unauthenticated:
    return Unauthenticated("The preview token is unknown or revoked.")


def read_text(link: LinkRow) -> str:
    """Return the text that the link shows of its post, for `Preview.texts`."""
    post = Post.objects.select_related("working_copy").defer("body_html").filter(pk=link.post_id).first()
    if post is None:  # deleted since the link was read
        raise build_unknown_token_error()
    return f"[{encode_text(build_text(post.pk, find_content(post, link))).decode()}]"


def read_copies() -> str:
    """Return the texts of all working copies, for `Preview.texts`."""
    copies = WorkingCopy.objects.order_by("pk")
    # The version of the post too: a copy that was saved before a field existed has the field of its post.
    versions = copies.values_list("pk", "version", "post__version")
    texts = {version: COPIES.get(version) for version in versions}
    unknown = [version[0] for version, text in texts.items() if text is None]
    for copy in copies.filter(pk__in=unknown).select_related("post").defer("post__body_html").iterator():
        version = copy.pk, copy.version, copy.post.version
        text = build_text(copy.pk, read_content(copy, copy.post))
        texts[version] = encoded = encode_text(text)
        if text["image_ids"] is None:  # images become ready, and are deleted
            COPIES.put(version, encoded)
    joined = b",".join(filter(None, texts.values()))
    return f"[{joined.decode()}]"


def find_content(post: Post, link: LinkRow | PreviewLink) -> Mapping[str, Any]:
    """Return the content that a link shows of its post, which was read with its working copy."""
    if link.mode != PreviewMode.VERSION:
        return read_content(post.working_copy, post) if hasattr(post, "working_copy") else read_own_content(post)
    if link.version == post.version:
        return read_own_content(post)
    earlier = PostVersion.objects.filter(id=post.pk, version=link.version).order_by("-pgh_id")
    found: Mapping[str, Any] | None = earlier.values(*CONTENT).first()
    if found is None:
        raise build_unknown_token_error()
    return found


def read_own_content(post: Post) -> dict[str, Any]:
    return {name: getattr(post, name) for name in CONTENT}


def build_text(post_id: int, content: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": post_id, **content, **render_content(content["body"], content["excerpt"])._asdict()}


def encode_text(text: Mapping[str, Any]) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()


def render_content(body: str, excerpt: str | None) -> Rendering:
    """Return the rendering of a text that no row has one of. A page of previews would render the same texts again."""
    key = hashlib.blake2b(f"{body}\0{excerpt or ''}".encode(), digest_size=16).digest()
    rendering = RENDERINGS.get(key)
    if rendering is None:
        rendering = render_post(body, excerpt, find_shown_images)
        if rendering.image_ids is None:  # images become ready, and are deleted
            RENDERINGS.put(key, rendering)
    return rendering


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
