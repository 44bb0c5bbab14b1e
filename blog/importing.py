"""Import posts from Markdown files: find the files, and create or update the post of each."""

import hashlib
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from blog import front_matter, services
from blog.front_matter import InvalidFile, MarkdownPost
from blog.models import MAX_NAME, Author, Post, PostSource, PostStatus
from contentapi.core import policy
from contentapi.core.errors import Invalid
from contentapi.core.identity import Actor
from contentapi.core.text import is_storable

SUFFIXES = (".md", ".markdown")
NO_AUTHOR = "Unknown author"


class ImportOutcome(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    NOT_A_POST = "not a post"


class SourceFile(NamedTuple):
    """A file, and the path that identifies it: relative to the imported folder, or the name of a single file."""

    file: Path
    source_path: str


def find_markdown_files(paths: Iterable[Path]) -> list[SourceFile]:
    """Return the Markdown files under the paths, in a stable order, without hidden files and folders."""
    found = []
    for path in paths:
        if path.is_file():
            found.append(SourceFile(path, path.name))
            continue
        for file in sorted(path.rglob("*")):
            relative = file.relative_to(path)
            is_hidden = any(part.startswith(".") for part in relative.parts)
            if file.suffix in SUFFIXES and file.is_file() and not is_hidden:
                found.append(SourceFile(file, relative.as_posix()))
    return found


@transaction.atomic
def import_file(
    *, actor: Actor, source: SourceFile, status: str = PostStatus.PUBLISHED, dry_run: bool = False
) -> ImportOutcome:
    """Create or update the post of a file. An unchanged file changes nothing. Raises `InvalidFile`.

    `draft` or `status` in the file overrides `status`. The first author becomes the post's author; its `PostSource`
    stores all names. A changed file overwrites edits that were made in this service. It overwrites the status and the
    time of publication only if it has other ones than at its last import.
    """
    policy.require_permission(
        actor,
        policy.may_manage_posts_and_authors(actor) and policy.may_transition_posts(actor, PostStatus.DRAFT, status),
        "import posts",
    )
    if source.file.name.startswith("_index."):
        return ImportOutcome.NOT_A_POST  # the page of a section, for Zola and Hugo
    content = source.file.read_bytes()
    parsed = front_matter.parse_post(content, source.file)
    if parsed is None:
        return ImportOutcome.NOT_A_POST
    digest = hashlib.sha256(content).digest()
    outcome = save_imported_post(actor, source.source_path, digest, parsed, parsed.status or status)
    transaction.set_rollback(dry_run)
    return outcome


def save_imported_post(actor: Actor, path: str, digest: bytes, parsed: MarkdownPost, status: str) -> ImportOutcome:
    if not is_storable(path):
        raise InvalidFile("the file's name is not UTF-8")
    with connection.cursor() as cursor:  # concurrent imports process one file at a time, and create no post twice
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('blog.importing'))")
    known = PostSource.objects.select_related("post").select_for_update(of=("post",)).filter(path=path).first()
    if known and bytes(known.digest) == digest:
        return ImportOutcome.UNCHANGED
    post = known.post if known else Post()
    apply_content(post, parsed)
    if not known or (known.status, known.publish_at) != (status, parsed.publish_at):
        post.status, post.publish_at = status, parsed.publish_at
    post.published_at = parsed.published_at or post.published_at
    if post.status == PostStatus.PUBLISHED and post.published_at is None:
        post.published_at = post.created_at
    post.version += 1 if known else 0
    post.updated_at = parsed.updated or (timezone.now() if known else post.created_at)
    services.attribute_change(post, actor)
    post.save()
    values = {"digest": digest, "authors": list(parsed.authors), "status": status, "publish_at": parsed.publish_at}
    PostSource.objects.update_or_create(path=path, defaults={"post": post, **values})
    return ImportOutcome.UPDATED if known else ImportOutcome.CREATED


def apply_content(post: Post, parsed: MarkdownPost) -> None:
    try:
        values = services.validate_post(title=parsed.title, body=parsed.body, tags=parsed.tags)
    except Invalid as error:
        raise InvalidFile(error.message) from None
    for name, value in values.items():
        setattr(post, name, value)
    post.author = get_or_create_author(parsed.authors[0] if parsed.authors else NO_AUTHOR)
    post.created_at = parsed.date or post.created_at


def get_or_create_author(name: str) -> Author:
    """Return the oldest author with this name. Create an author if there is none."""
    if len(name) > MAX_NAME:
        raise InvalidFile(f"the author's name has {len(name)} characters; at most {MAX_NAME}")
    return Author.objects.filter(name=name).order_by("pk").first() or Author.objects.create(name=name)
