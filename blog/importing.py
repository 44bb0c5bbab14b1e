"""Posts from Markdown files: which files there are, and what becomes of each."""

import hashlib
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from blog import front_matter, services
from blog.front_matter import BadFile, MarkdownPost
from blog.models import MAX_NAME, Author, Post, PostSource, PostStatus
from contentapi.core import policy
from contentapi.core.errors import Invalid
from contentapi.core.identity import Actor
from contentapi.core.text import is_storable

SUFFIXES = (".md", ".markdown")
NO_AUTHOR = "Unknown author"


class Outcome(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    NOT_A_POST = "not a post"


class SourceFile(NamedTuple):
    """A file, and the path that it is known by: under the folder that was given, or its name."""

    file: Path
    source_path: str


def find_files(paths: Iterable[Path]) -> list[SourceFile]:
    """Return the Markdown files under the paths, in a stable order. Hidden files and folders are left out."""
    found = []
    for path in paths:
        if path.is_file():
            found.append(SourceFile(path, path.name))
            continue
        below = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
        relative = [(file, file.relative_to(path)) for file in below]
        found += [
            SourceFile(file, known.as_posix())
            for file, known in relative
            if not any(part.startswith(".") for part in known.parts)
        ]
    return found


def require_unique_path(source: SourceFile, seen: AbstractSet[str]) -> None:
    """Refuse a second file of one import that is known by the same path: it would overwrite the first one's post."""
    if source.source_path in seen:
        raise BadFile(f"another file of this import is known as {source.source_path} too")


@transaction.atomic
def import_file(
    *, actor: Actor, source: SourceFile, status: str = PostStatus.PUBLISHED, dry_run: bool = False
) -> Outcome:
    """Create or update the post of a file; do nothing when the file is as it was at its last import.

    A file's `draft` or `status` wins over `status`. Of several authors the first is the post's, and all are kept in its
    `PostSource`. What was changed here since the last import gives way to a changed file, but a post's state
    only when the file asks for another state than it did then. Raises `BadFile`.
    """
    policy.require_permission(
        actor,
        policy.may_write_everybodys_posts(actor) and policy.may_transition_posts(actor, PostStatus.DRAFT, status),
        "import posts",
    )
    if source.file.name.startswith("_index."):
        return Outcome.NOT_A_POST  # a section of the site, to Zola and Hugo
    content = source.file.read_bytes()
    parsed = front_matter.parse_post(content, source.file)
    if parsed is None:
        return Outcome.NOT_A_POST
    outcome = save_imported_post(
        source.source_path,
        hashlib.sha256(content).digest(),
        parsed,
        parsed.status or status,
    )
    transaction.set_rollback(dry_run)
    return outcome


def save_imported_post(path: str, digest: bytes, parsed: MarkdownPost, status: str) -> Outcome:
    if not is_storable(path):
        raise BadFile("the file's name is not UTF-8")
    with connection.cursor() as cursor:  # two imports at once: one file after the other, and nothing twice
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('blog.importing'))")
    known = PostSource.objects.select_related("post").select_for_update(of=("post",)).filter(path=path).first()
    if known and bytes(known.digest) == digest:
        return Outcome.UNCHANGED
    post = known.post if known else Post()
    apply_content(post, parsed)
    if not known or (known.status, known.publish_at) != (status, parsed.publish_at):
        post.status, post.publish_at = status, parsed.publish_at
    post.published_at = parsed.published_at or post.published_at
    if post.status == PostStatus.PUBLISHED and post.published_at is None:
        post.published_at = post.created_at
    post.version += 1 if known else 0
    post.updated_at = parsed.updated or (timezone.now() if known else post.created_at)
    post.save()
    PostSource.objects.update_or_create(
        path=path,
        defaults={
            "post": post,
            "digest": digest,
            "authors": list(parsed.authors),
            "status": status,
            "publish_at": parsed.publish_at,
        },
    )
    return Outcome.UPDATED if known else Outcome.CREATED


def apply_content(post: Post, parsed: MarkdownPost) -> None:
    try:
        values = services.validate_post(title=parsed.title, body=parsed.body, tags=parsed.tags)
    except Invalid as error:
        raise BadFile(error.message) from None
    for name, value in values.items():
        setattr(post, name, value)
    post.author = get_or_create_author(parsed.authors[0] if parsed.authors else NO_AUTHOR)
    post.created_at = parsed.date or post.created_at


def get_or_create_author(name: str) -> Author:
    """Return the author of this name, the oldest where there are several; make one where there is none."""
    if len(name) > MAX_NAME:
        raise BadFile(f"the author's name has {len(name)} characters; at most {MAX_NAME}")
    return Author.objects.filter(name=name).order_by("pk").first() or Author.objects.create(name=name)
