"""The history of posts: their versions, the differences between them, and restoring.

Triggers of PostgreSQL write the history (`blog.models.PostVersion`). A version is the row before a change or a
deletion; the present version is the row of the post. So the history has every version, regardless of who made it and
how.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import MD5, Length
from django.utils import timezone

from blog import policy, selectors
from blog.history.differences import DifferenceLine, compare_texts
from blog.models import DATABASE, POST_OWN, VERSIONED, Author, Post, PostStatus, PostVersion, WorkingCopy
from contentapi.auth.people import name_person, name_users
from contentapi.conf.timeouts import HISTORY_ENTRY, RESTORABLE_FOR
from contentapi.core.errors import NotFound, require_found
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_credential, require_permission

LEAST_REMOVED = 20  # characters, of a save that is an entry of its own
PAGE = 50  # versions, and deleted posts, of a page
# As values; see `Comparison`
COMPARED = [name for name in VERSIONED if name not in ("body", "author", "coauthor_ids", "own")]
DELETED_AUTHOR = "a deleted author"
EVENT_COLUMNS = ["pgh_label", "pgh_created_at", "pgh_context"]
COLUMNS = [*COMPARED, "own", "slug_is_chosen", "author_id", "coauthor_ids", "updated_at", "version"]
COLUMNS += ["changed_at", "changed_by", "changed_with"]


class Change(NamedTuple):
    """Who did something, when, and with which interface and credential. `person` is empty if no user did it."""

    at: datetime
    person: str
    origin: str


class Version(NamedTuple):
    """A version of a post. `values` has the fields of the post.

    `changed_fields` are the fields that differ from the version before; None if that version is unknown or not read.
    `deletion` is the deletion that ended this version, also if the post was restored after it. `is_restored` states
    whether the version before was deleted, if it is read.
    """

    number: int
    values: Mapping[str, Any]
    made: Change
    is_present: bool
    deletion: Change | None = None
    changed_fields: Sequence[str] | None = None
    is_restored: bool = False


class VersionPage(NamedTuple):
    """A page of the versions of a post, the newest first. `next_before` begins the next page; None on the last page.

    `present` is the number of the present version; None for a deleted post.
    """

    title: str
    present: int | None
    versions: list[Version]
    next_before: int | None


class FieldChange(NamedTuple):
    name: str
    old: Any
    new: Any


class Comparison(NamedTuple):
    """The differences of two versions: of the fields except the body, and of the lines of the body."""

    old: Version
    new: Version
    fields: list[FieldChange]
    body: list[DifferenceLine]


def list_versions(*, actor: Actor, post_id: str, before: int | None = None, limit: int = PAGE) -> VersionPage:
    """Return the versions of a post that are older than `before`, the newest first. Raises `NotFound`.

    Executes the same number of statements for each page. The bodies are compared by their digests in PostgreSQL.
    """
    pk = find_history(actor, post_id)
    body = {"body_digest": MD5("body"), "body_length": Length("body")}
    rows: list[dict[str, Any]] = list(Post.objects.filter(pk=pk).values(*COLUMNS, **body))
    present = rows[0]["version"] if rows else None
    present_title = rows[0]["title"] if rows else ""
    earlier = PostVersion.objects.filter(id=pk)
    if present is not None:  # a change after the statement above must not list a version twice
        earlier = earlier.filter(version__lt=present)
    if before is not None:
        earlier = earlier.filter(version__lt=before)
        rows = [row for row in rows if row["version"] < before]
    earlier = earlier.order_by("-version", "-pgh_id")
    rows += earlier.values(*COLUMNS, *EVENT_COLUMNS, **body)[: limit + 1 - len(rows)]
    names = name_people(rows)
    versions = [build_version(row, names, rows[number + 1 :]) for number, row in enumerate(rows[:limit])]
    title = present_title or (rows[0]["title"] if rows else "")
    return VersionPage(title, present, versions, versions[-1].number if len(rows) > limit else None)


def group_versions(page: VersionPage) -> list[Version]:
    """Return the entries of the history: of the versions of a draft that one person saved within ten minutes, the last.

    An entry has the fields that any of its versions changed. The others are not lost: a conflict compares with them. A
    save that removes most of the text is an entry of its own, so that the text before it is one too.
    """
    entries: list[Version] = []
    is_alone = False
    for version, earlier in zip_longest(page.versions, page.versions[1:]):
        was_alone, is_alone = is_alone, earlier is not None and removes_most(version, earlier)
        if entries and not was_alone and not is_alone and is_same_entry(entries[-1], version):
            entries[-1] = merge_versions(entries[-1], version)
        else:
            entries.append(version)
    return entries


def merge_versions(last: Version, earlier: Version) -> Version:
    """Return the last version of an entry, with the changes of an earlier one."""
    fields = None if earlier.changed_fields is None else {*earlier.changed_fields, *(last.changed_fields or ())}
    changed = None if fields is None else [name for name in (*VERSIONED, *POST_OWN.names) if name in fields]
    return last._replace(changed_fields=changed, is_restored=earlier.is_restored)


def is_same_entry(last: Version, earlier: Version) -> bool:
    """Return whether a version is one entry of the history with a later one. A working copy has no status."""
    are_hidden = all(each.values.get("status", PostStatus.DRAFT) == PostStatus.DRAFT for each in (last, earlier))
    is_own = last.values["changed_by"] is not None and last.values["changed_by"] == earlier.values["changed_by"]
    is_near = last.made.at - earlier.made.at <= HISTORY_ENTRY and last.made.origin == earlier.made.origin
    return are_hidden and is_own and is_near and not earlier.deletion and not removes_most(last, earlier)


def removes_most(last: Version, earlier: Version) -> bool:
    """Return whether a version has less than half of an earlier text. Of a text of some words, nobody misses that."""
    before, after = earlier.values["body_length"], last.values["body_length"]
    return bool(before - after >= LEAST_REMOVED and after * 2 < before)


def find_history(actor: Actor, post_id: str) -> int:
    """Return the id of a post. Raises `NotFound`, also for a deleted post that cannot be restored any more."""
    action = "see the history of this post"
    require_credential(actor, action)
    post = selectors.posts.find_post(actor, post_id, "body", "body_html")
    if post is not None:
        require_permission(actor, policy.may_see_history_of(actor, post.author.user_id), action)
        return post.pk
    deleted = select_deleted_posts(actor).filter(id=parse_id(post_id)).values_list("id", flat=True)
    return int(require_found(deleted.first(), "post"))


def read_version(*, actor: Actor, post_id: str, number: int) -> Version:
    """Return a version of a post with its body. Raises `NotFound`."""
    row = read_row(find_history(actor, post_id), number)
    return build_version(row, name_people([row]))


def read_row(pk: int, number: int) -> dict[str, Any]:
    row: dict[str, Any] | None = Post.objects.filter(pk=pk, version=number).values(*COLUMNS, "body").first()
    if row is None:
        versions = PostVersion.objects.filter(id=pk, version=number).order_by("-pgh_id")
        row = versions.values(*COLUMNS, *EVENT_COLUMNS, "body").first()
    if row is None:
        raise NotFound(f"This post has no version {number}.")
    return row


def compare_versions(*, actor: Actor, post_id: str, old: int, new: int) -> Comparison:
    """Return the differences between two versions of a post. Raises `NotFound`."""
    pk = find_history(actor, post_id)
    return compare_rows(read_row(pk, old), read_row(pk, new))


def compare_rows(*rows: Mapping[str, Any]) -> Comparison:
    """Return the differences between the rows of two versions."""
    names = name_people(rows)
    before, after = (build_version(row, names) for row in rows)
    fields = [
        FieldChange(name, before.values[name], after.values[name])
        for name in COMPARED
        if before.values[name] != after.values[name]
    ]
    fields += compare_own_fields(*rows)
    fields += compare_authors(*rows)
    return Comparison(before, after, fields, compare_texts(before.values["body"], after.values["body"]))


def compare_own_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FieldChange]:
    """Yield the changes of own fields, by their names in the API."""
    for name in POST_OWN.list_changes(before["own"], after["own"]):
        yield FieldChange(name, before["own"].get(name), after["own"].get(name))


def compare_authors(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FieldChange]:
    """Yield the changes of the author and of the co-authors, by their names."""
    ids = [[row["author_id"], *row["coauthor_ids"]] for row in (before, after)]
    names = dict(Author.objects.filter(pk__in=[*ids[0], *ids[1]]).values_list("pk", "name"))
    old, new = ([names.get(pk, DELETED_AUTHOR) for pk in each] for each in ids)
    if ids[0][0] != ids[1][0]:
        yield FieldChange("author", old[0], new[0])
    if ids[0][1:] != ids[1][1:]:
        yield FieldChange("coauthor_ids", old[1:], new[1:])


def build_version(row: Mapping[str, Any], names: Mapping[int, str], older: Sequence[Mapping[str, Any]] = ()) -> Version:
    """Return the version of a row. `older` are the rows before it, the newest first; none if they are not read."""
    made = Change(row["changed_at"], name_person(row["changed_by"], names), row["changed_with"])
    deletion = build_deletion(row, names) if row.get("pgh_label") == "delete" else None
    is_restored = bool(older) and older[0].get("pgh_label") == "delete"
    changed_fields = list_changed_fields(row, older)
    return Version(row["version"], row, made, "pgh_label" not in row, deletion, changed_fields, is_restored)


def list_changed_fields(row: Mapping[str, Any], older: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """Return the fields in which a version differs from the one before; None if there is no older row."""
    if not older:
        return None
    columns = {"body": "body_digest", "author": "author_id"}
    changed = [name for name in VERSIONED if row[columns.get(name, name)] != older[0][columns.get(name, name)]]
    return [each for each in changed if each != "own"] + POST_OWN.list_changes(older[0]["own"], row["own"])


def name_people(rows: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """Return the names of the users who changed or deleted these versions. A deleted user has no name."""
    ids = [(row["changed_by"], (row.get("pgh_context") or {}).get("changed_by")) for row in rows]
    return name_users(user_id for pair in ids for user_id in pair)


def name_saver(copy: WorkingCopy) -> str:
    """Return the name of the person who saved a working copy last; an empty one for a program."""
    return name_person(copy.updated_by, name_users([copy.updated_by]))


def select_deleted_posts(actor: Actor) -> QuerySet[PostVersion]:
    """Return the last versions of the deleted posts that the actor may restore."""
    posts = Post.objects.filter(pk=OuterRef("id"))
    is_same_version = Q(version=OuterRef("version"), pgh_id__gt=OuterRef("pgh_id"))
    later = PostVersion.objects.filter(Q(version__gt=OuterRef("version")) | is_same_version, id=OuterRef("id"))
    since = timezone.now() - RESTORABLE_FOR
    deleted: QuerySet[PostVersion] = PostVersion.objects.filter(pgh_label="delete", pgh_created_at__gt=since)
    return deleted.filter(policy.visible_deleted_posts(actor)).exclude(Exists(posts)).exclude(Exists(later))


def build_deletion(row: Mapping[str, Any], names: Mapping[int, str]) -> Change:
    context = row["pgh_context"] or {}
    person = name_person(context.get("changed_by"), names)
    return Change(row["pgh_created_at"], person, context.get("changed_with", DATABASE))
