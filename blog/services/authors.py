"""Writes of authors, and the author and the co-authors of a post."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import ProtectedError

from blog import policy, selectors
from blog.models import AUTHOR_OWN, MAX_COAUTHORS, Author, Coauthorship, Post
from blog.models.audit import Audit
from contentapi.core.errors import Conflict, Invalid, Unauthenticated, require_row
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_credential, require_permission
from contentapi.events.declarations import refuse_required
from contentapi.events.triggers import attribute_changes
from contentapi.projection import PreparedQuery

PROFILE = {"name", "bio", "avatar_url"}
IDENTITY = {"user", "email"}
LONGEST_ID = 19  # digits
UNKNOWN_AUTHOR = {"authorId": ["There is no author with this id."]}


class AuthorRow(msgspec.Struct):
    """An author's id and the id of the author's user, if there is one."""

    id: int
    user_id: int | None = None


AUTHOR = PreparedQuery(AuthorRow, lambda given: Author.objects.filter(pk=given("id")))
AUTHOR_OF_USER = PreparedQuery(AuthorRow, lambda given: Author.objects.filter(user=given("user")))


def get_or_create_own_author_id(actor: Actor) -> int:
    """Return the id of the actor's author profile. The first call creates it, with the user's name and email."""
    if actor.user_id is None:
        raise Invalid({"authorId": ["Name the author: this credential belongs to no user."]})
    profile = AUTHOR_OF_USER.first(user=actor.user_id)
    if profile is not None:
        return profile.id
    user = get_user_model().objects.filter(pk=actor.user_id).first()
    if user is None:  # a token can outlast its user by minutes
        raise Unauthenticated("The user of this credential does not exist any more.")
    return create_profile(actor, user).pk


def get_or_create_profile(*, actor: Actor, user_id: str) -> Author:
    """Return the author profile of an account that may write posts. Raises `Invalid` for any other account."""
    require_permission(actor, policy.may_manage_posts_and_authors(actor), "create authors")
    user = selectors.authors.select_writing_users().filter(pk=parse_id(user_id)).first()
    if user is None:
        raise Invalid({"authorId": ["There is no account with this id that may write posts."]})
    return create_profile(actor, user)


def create_profile(actor: Actor, user: Any) -> Author:
    """Return the author profile of a user, which gets the user's name and email if it is new."""
    with attribute_changes(actor):
        return Author.objects.get_or_create(user=user, defaults={"name": user.name, "email": user.email})[0]


def require_author(author_id: str) -> AuthorRow:
    """Return the author with this id. Raises `Invalid`."""
    author = AUTHOR.first(id=parse_id(author_id))
    if author is None:
        raise Invalid(UNKNOWN_AUTHOR)
    return author


def resolve_author_id(actor: Actor, author_id: str | None) -> int | None:
    """Return the id of a new post's author; None is the actor's own author profile.

    If the actor may write posts of all authors, the id is not looked up: the insertion fails for an unknown author.
    """
    if author_id is None:
        return None
    if policy.may_manage_posts_and_authors(actor):
        return parse_id(author_id)
    author = require_author(author_id)
    require_permission(actor, policy.may_write_posts_of(actor, author.user_id), "write posts of this author")
    return author.id


def create_author(*, actor: Actor, author: Author) -> Author:
    """Create an author, whose own fields are changes of none. Raises `Malformed` and `Invalid`."""
    require_permission(actor, policy.may_manage_posts_and_authors(actor), "create authors")
    author.own = AUTHOR_OWN.apply({}, author.own)
    return save_author(actor, author)


@transaction.atomic
def edit_author(*, actor: Actor, author_id: str, changes: Mapping[str, Any]) -> Author:
    """Change fields of an author: those of `PROFILE`, own fields together as `own`, and, if the actor may write all
    authors, those of `IDENTITY`.

    Raises `NotFound` and `Invalid`.
    """
    require_credential(actor, "change authors")
    authors = selectors.authors.select_author_by_id(actor, author_id).queryset()
    author = require_row(authors.select_for_update(of=("self",)), "author")
    may_edit = policy.may_edit_author(actor, author.user_id)
    require_permission(actor, may_edit, "change this author")
    if IDENTITY & changes.keys():
        may_manage = policy.may_manage_posts_and_authors(actor)
        require_permission(actor, may_manage, "change the user or email of an author")
    for name in (PROFILE | IDENTITY) & changes.keys():
        setattr(author, name, changes[name])
    author.own = AUTHOR_OWN.apply(author.own, changes.get("own", {}))
    return save_author(actor, author)


def save_author(actor: Actor, author: Author) -> Author:
    try:
        author.full_clean()
    except ValidationError as error:
        raise Invalid(error.message_dict) from None
    with attribute_changes(actor):
        author.save()
    return author


@transaction.atomic
def delete_author(*, actor: Actor, author_id: str) -> str:
    """Delete an author with their comments. Returns its id. Raises `NotFound`, and `Conflict` if there are posts,
    also those that the author has written with others.
    """
    require_permission(actor, policy.may_manage_posts_and_authors(actor), "delete authors")
    authors = selectors.authors.select_author_by_id(actor, author_id).queryset()
    author = require_row(authors.select_for_update(of=("self",)), "author")
    pk = author.pk
    try:
        with attribute_changes(actor):  # comments on posts of others, which change too, are announced
            author.delete()
    except ProtectedError as error:
        if any(isinstance(each, Post) for each in error.protected_objects):
            raise Conflict(f"{author.name} has posts. Delete them first.") from None
        if any(isinstance(each, Coauthorship) for each in error.protected_objects):
            raise Conflict(f"{author.name} is a co-author of posts. Change their co-authors first.") from None
        with refuse_required(actor, "Author", pk):
            raise
    Audit.AUTHOR_DELETED.record(actor, "author", pk)
    return author_id


def require_author_permissions(actor: Actor, names: Mapping[str, Any]) -> None:
    """Raise an error unless the actor may change those of the author and the co-authors that are named."""
    may_manage = policy.may_manage_posts_and_authors(actor)
    if "author_id" in names:
        require_permission(actor, may_manage, "change the author of a post")
    if "coauthor_ids" in names:
        require_permission(actor, may_manage, "set the co-authors of a post")


def validate_author_changes(actor: Actor, post: Post, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new author and co-authors of a post. Raises `Invalid`."""
    values: dict[str, Any] = {}
    author = post.author
    if "author_id" in changes:
        found = selectors.authors.find_author(actor, changes["author_id"])
        if found is None:
            raise Invalid(UNKNOWN_AUTHOR)
        author = values["author"] = found
    if "coauthor_ids" in changes:
        values["coauthor_ids"] = validate_coauthors(changes["coauthor_ids"], author.pk)
    elif author.pk in post.coauthor_ids:
        raise Invalid({"authorId": ["This author is a co-author of the post. Change the co-authors too."]})
    return values


def validate_coauthors(coauthor_ids: Sequence[str], author_id: int) -> list[int]:
    """Return the ids of the co-authors of a post by an author. Raises `Invalid`."""
    ids = [parse_id(text) for text in coauthor_ids]
    problems = []
    if len(ids) > MAX_COAUTHORS:
        problems.append(f"At most {MAX_COAUTHORS} co-authors are allowed (got {len(ids)}).")
    if len(set(coauthor_ids)) < len(ids):
        problems.append("Co-authors must be unique.")
    if author_id in ids:
        problems.append("The author of a post cannot be a co-author too.")
    if not problems:
        known = {author.pk for author in Author.objects.in_order_of(ids)}
        unknown = [text for text, pk in zip(coauthor_ids, ids, strict=True) if pk not in known]
        problems += [f"There is no author with the id {text[:LONGEST_ID]}." for text in unknown]
    if problems:
        raise Invalid({"coauthorIds": problems})
    return ids
