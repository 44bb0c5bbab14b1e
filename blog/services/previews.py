"""Preview links: create and revoke them, find the link of a token, the texts that it shows, and its addresses.

A token is random, and only its digest is stored. Each request with a token reads its link, with its maker and the
author of its post, so that a link that has ended shows nothing from the next request on, on every server. It is charged
then, and reads the texts only if it reads posts.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple, cast

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from blog import policy
from blog.models import CONTENT, MAX_NOTE, Post, PostVersion, PreviewLink, PreviewMode, WorkingCopy
from blog.models.audit import Audit
from blog.rendering import Rendering, render_post
from blog.services.posts import get_post_for_update
from blog.services.renderings import find_shown_images
from blog.services.working_copies import read_text
from contentapi.conf import conf, timeouts
from contentapi.core.caching import BoundedCache
from contentapi.core.entity_tags import parse_version
from contentapi.core.errors import Conflict, Invalid, PreviewExpired, Unauthenticated, require_row
from contentapi.core.identity import ROLE_SCOPES, Actor, Preview, Role, Scope
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_credential, require_permission
from contentapi.core.replicas import read_credential
from contentapi.db.distribution import get_backend

MAX_LINKS = 20  # valid ones of a post
MAX_LINKS_OF_PERSON = 50
TOKEN = re.compile(r"cap_[0-9a-f]{64}")
UNKNOWN = "The preview token is unknown or revoked."
PLACE = re.compile(r"\{(\w+)\}")  # of a value in an address
NAMED = re.compile(r"([\w-]+)=(https?://.*)")
UNNAMED, PAGE = "site", "page"  # the names of an address without one, and of the page of this server
# A rendering weighs its texts; its key is a digest of what it was made of. A request of the site shows all copies.
RENDERINGS: BoundedCache[Rendering] = BoundedCache(
    32 * 1024 * 1024, weigh=lambda rendering: 1000 + 2 * sum(map(len, rendering[:3])), name="previews"
)


def hash_token(token: str) -> bytes:
    """Return the digest of a token. It has 256 random bits, so guessing cannot reverse a plain hash."""
    return hashlib.sha256(token.encode()).digest()


def add_preview(actor: Actor, token: str) -> Actor:
    """Return the actor of a request with a preview token, beside the credential of an actor.

    A token of the mode `site` takes the place of the credential. Raises `Unauthenticated`, or `PreviewExpired`.
    """
    link, _ = read_credential(partial(find_link, token))
    role = Role(link.maker.role)
    maker = Actor(link.maker_id, role, ROLE_SCOPES[role], "preview", f"preview:{link.id}")
    is_site = link.mode == PreviewMode.SITE
    if not policy.may_see_history_of(maker, link.post.author.user_id):
        raise Unauthenticated(UNKNOWN)
    if is_site and not policy.may_preview_site(maker):
        raise Unauthenticated(UNKNOWN)
    if link.expires_at <= timezone.now():
        raise PreviewExpired("The preview token has expired.")
    read_texts = read_copies if is_site else partial(read_text_of_link, link)
    preview = Preview(link.id, link.post_id, link.maker_id, is_site, read_texts)
    if is_site:
        return replace(maker, scopes=frozenset({Scope.POSTS_READ}), preview=preview)
    return replace(actor, preview=preview)


def find_link(token: str) -> PreviewLink:
    """Return the link of a token, with its maker and the author of its post. Raises `Unauthenticated`."""
    links = PreviewLink.objects.filter(digest=hash_token(token), maker__is_active=True)
    links = links.select_related("maker", "post__author").only(
        "post", "mode", "version", "expires_at", "maker__role", "post__author__user"
    )
    link = links.first() if TOKEN.fullmatch(token) else None
    if link is None:
        raise Unauthenticated(UNKNOWN)
    return link


def read_text_of_link(link: PreviewLink) -> str:
    """Return the text that the link shows of its post, for `Preview.texts`."""
    post = Post.objects.select_related("working_copy").defer("body_html").filter(pk=link.post_id).first()
    if post is None:  # deleted since the link was read
        raise Unauthenticated(UNKNOWN)
    return encode_texts([find_text(post, link)])


def read_copies() -> str:
    """Return the texts of all working copies, for `Preview.texts`."""
    copies = WorkingCopy.objects.select_related("post").defer("post__body_html").order_by("pk")
    return encode_texts(read_text(copy, copy.post) for copy in copies.iterator())


def find_text(post: Post, link: PreviewLink) -> Post | PostVersion:
    """Return a row with the content that a link shows of its post, which was read with its working copy."""
    if link.mode != PreviewMode.VERSION:
        return read_text(post.working_copy, post) if hasattr(post, "working_copy") else post
    if link.version == post.version:
        return post
    versions = PostVersion.objects.filter(id=post.pk, version=link.version)
    earlier: PostVersion | None = versions.order_by("-pgh_id").first()
    if earlier is None:
        raise Unauthenticated(UNKNOWN)
    return earlier


def encode_texts(rows: Iterable[Post | PostVersion]) -> str:
    """Return the content of rows, with its rendering, as a JSON array."""
    contents = [{"id": row.id, **{name: getattr(row, name) for name in CONTENT}} for row in rows]
    texts = [each | render_content(each["body"], each["excerpt"])._asdict() for each in contents]
    return json.dumps(texts, ensure_ascii=False)


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
    values = {"token": token, "id": str(post.pk), "slug": find_text(post, link).slug or f"post-{post.pk}"}
    sites = [site._replace(url=PLACE.sub(lambda found: values[found[1]], site.url)) for site in list_preview_sites()]
    return [*sites, PreviewAddress(PAGE, f"{conf.origin}{reverse('preview_page')}?token={token}")]


class CreatedLink(NamedTuple):
    """A new link, and what is not stored: its token, and the addresses at which to open it, which have the token."""

    preview_link: PreviewLink
    token: str
    addresses: Sequence[PreviewAddress]

    @property
    def url(self) -> str:
        return self.addresses[0].url

    def describe_secrets(self) -> dict[str, Any]:
        """Return what only the response to the creation has."""
        return {"token": self.token, "url": self.url, "addresses": [address._asdict() for address in self.addresses]}


@transaction.atomic
def create_preview_link(
    *,
    actor: Actor,
    post_id: str,
    mode: str | None = None,
    version: str | None = None,
    expires_in: float | None = None,
    note: str | None = None,
) -> CreatedLink:
    """Create a preview link of a post. It expires after `expires_in` seconds, by default 24 hours.

    The mode `latest` shows the working copy, or else the post; `version` a version of its history; `site`, for an hour
    at most, all that the actor may read. Raises `NotFound`, `Invalid`, and `Conflict` if the post has 20 valid
    links or the actor has 50.
    """
    mode = mode or PreviewMode.LATEST
    post = get_post_for_update(actor, post_id, "create preview links")
    may_create = policy.may_see_history_of(actor, post.author.user_id)
    require_permission(actor, may_create and actor.user_id is not None, "create preview links of this post")
    if mode == PreviewMode.SITE:
        require_permission(actor, policy.may_preview_site(actor), "create preview links of the whole site")
    number = validate_version(post, mode, version)
    lifetime = validate_lifetime(mode, expires_in)
    note = (note or "").strip()
    if len(note) > MAX_NOTE:
        raise Invalid({"note": [f"At most {MAX_NOTE} characters are allowed (got {len(note)})."]})
    now = timezone.now()
    maker_id = cast("int", actor.user_id)  # the permission needs a user
    require_room_for_link(PreviewLink.objects.filter(expires_at__gt=now), post, maker_id)
    token = f"cap_{secrets.token_hex(32)}"
    link = PreviewLink.objects.create(
        post=post,
        mode=mode,
        version=number,
        note=note,
        digest=hash_token(token),
        maker_id=maker_id,
        created_at=now,
        expires_at=now + timedelta(seconds=lifetime),
    )
    details = {"post": post.pk, "mode": str(mode), "expires_at": link.expires_at.isoformat()}
    Audit.PREVIEW_LINK_CREATED.record(actor, "preview_link", link.pk, **details)
    return CreatedLink(link, token, list_preview_addresses(link, token))


def require_room_for_link(valid: QuerySet[PreviewLink], post: Post, maker_id: int) -> None:
    """Raise `Conflict` if the post, which is locked, or the maker has enough valid links."""
    if valid.filter(post=post).count() >= MAX_LINKS:
        raise Conflict(f"The post has {MAX_LINKS} valid preview links. Revoke one first.")
    get_user_model().objects.select_for_update(no_key=True).filter(pk=maker_id).first()  # as for each link of the maker
    if valid.filter(maker=maker_id).count() >= MAX_LINKS_OF_PERSON:
        raise Conflict(f"You have {MAX_LINKS_OF_PERSON} valid preview links. Revoke one first.")


def find_valid_link(*, actor: Actor, post_id: str, token: str) -> CreatedLink | None:
    """Return the actor's own link with this token, if it shows this post for a while still."""
    soon = timezone.now() + timedelta(seconds=timeouts.SHORTEST_PREVIEW_LIFETIME)
    links = PreviewLink.objects.filter(policy.visible_preview_links(actor), post=parse_id(post_id), expires_at__gt=soon)
    link = links.filter(digest=hash_token(token), maker=actor.user_id).first()
    return None if link is None else CreatedLink(link, token, list_preview_addresses(link, token))


def validate_version(post: Post, mode: str, version: str | None) -> int | None:
    """Return the version that a link shows: a version of the post for the mode `version`, otherwise None."""
    if mode != PreviewMode.VERSION:
        if version is not None:
            raise Invalid({"version": ["Only a link of the mode version has a version."]})
        return None
    if version is None:
        raise Invalid({"version": ["A link of the mode version needs a version."]})
    number = parse_id(parse_version(version) or "")
    if number != post.version and not PostVersion.objects.filter(id=post.pk, version=number).exists():
        raise Invalid({"version": [f"The post is at version {post.version}, and has no such version."]})
    return number


def validate_lifetime(mode: str, expires_in: float | None) -> int:
    """Return for how many seconds a link is valid."""
    longest = timeouts.SITE_PREVIEW_LIFETIME if mode == PreviewMode.SITE else timeouts.LONGEST_PREVIEW_LIFETIME
    seconds = min(longest, timeouts.DEFAULT_PREVIEW_LIFETIME) if expires_in is None else int(expires_in)
    if not timeouts.SHORTEST_PREVIEW_LIFETIME <= seconds <= longest:
        raise Invalid(
            {"expiresIn": [f"From {timeouts.SHORTEST_PREVIEW_LIFETIME} to {longest} seconds (got {seconds})."]}
        )
    return seconds


@transaction.atomic
def revoke_preview_link(*, actor: Actor, link_id: str) -> str:
    """End a link, also one that has expired, and return its id. Raises `NotFound` for one that is hidden."""
    require_credential(actor, "revoke preview links")
    links = PreviewLink.objects.filter(policy.visible_preview_links(actor), pk=parse_id(link_id))
    link = require_row(get_backend().lock(links, of=("self",)), "preview link")
    Audit.PREVIEW_LINK_REVOKED.record(actor, "preview_link", link.pk, post=link.post_id)
    link.delete()
    return str(parse_id(link_id))


def purge_preview_links(*, actor: Actor) -> int:
    """Delete the links that have expired long ago. Returns their number. Until then, their tokens are expired."""
    require_permission(actor, policy.may_purge_history(actor), "delete expired preview links")
    purged, _ = PreviewLink.objects.filter(expires_at__lte=timezone.now() - timeouts.PREVIEWS_KEPT_FOR).delete()
    return purged
