"""Validation and permissions for the author and the co-authors of a post."""

from collections.abc import Mapping, Sequence
from typing import Any

from blog import policy
from blog.models import MAX_COAUTHORS, Author, Post
from blog.services.authors import find_new_author
from contentapi.core.errors import Invalid
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_permission

LONGEST_ID = 19  # digits


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
        author = values["author"] = find_new_author(actor, changes["author_id"])
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
