"""Preview links: create and revoke them. A token is random, and only its digest is stored."""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple, cast

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from blog import policy
from blog.models import MAX_NOTE, Post, PostVersion, PreviewLink, PreviewMode
from blog.models.audit import Audit
from blog.services.posts import get_post_for_update
from blog.services.previews import PreviewAddress, hash_token, list_preview_addresses
from contentapi.conf.timeouts import (
    DEFAULT_PREVIEW_LIFETIME,
    LONGEST_PREVIEW_LIFETIME,
    PREVIEWS_KEPT_FOR,
    SHORTEST_PREVIEW_LIFETIME,
    SITE_PREVIEW_LIFETIME,
)
from contentapi.core.entity_tags import parse_version
from contentapi.core.errors import Conflict, Invalid, require_found
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_credential, require_permission
from contentapi.db.distribution import get_backend

MAX_LINKS = 20  # valid ones of a post
MAX_LINKS_OF_PERSON = 50


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
    soon = timezone.now() + timedelta(seconds=SHORTEST_PREVIEW_LIFETIME)
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
    longest = SITE_PREVIEW_LIFETIME if mode == PreviewMode.SITE else LONGEST_PREVIEW_LIFETIME
    seconds = min(longest, DEFAULT_PREVIEW_LIFETIME) if expires_in is None else int(expires_in)
    if not SHORTEST_PREVIEW_LIFETIME <= seconds <= longest:
        raise Invalid({"expiresIn": [f"From {SHORTEST_PREVIEW_LIFETIME} to {longest} seconds (got {seconds})."]})
    return seconds


@transaction.atomic
def revoke_preview_link(*, actor: Actor, link_id: str) -> str:
    """End a link, also one that has expired, and return its id. Raises `NotFound` for one that is hidden."""
    require_credential(actor, "revoke preview links")
    links = PreviewLink.objects.filter(policy.visible_preview_links(actor), pk=parse_id(link_id))
    link = require_found(get_backend().lock(links, of=("self",)).first(), "preview link")
    number = str(link.pk)
    Audit.PREVIEW_LINK_REVOKED.record(actor, "preview_link", link.pk, post=link.post_id)
    link.delete()
    return number


@transaction.atomic
def purge_preview_links(*, actor: Actor) -> int:
    """Delete the links that have expired long ago. Returns their number. Until then, their tokens are expired."""
    require_permission(actor, policy.may_purge_history(actor), "delete expired preview links")
    purged, _ = PreviewLink.objects.filter(expires_at__lte=timezone.now() - PREVIEWS_KEPT_FOR).delete()
    return purged
