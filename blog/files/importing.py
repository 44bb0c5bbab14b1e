"""Import posts from Markdown files: find the files, and create or update the post of each.

A file is identified by the name of its source and its path in it. So two sites may have files of the same path.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from django.db import InterfaceError, InternalError, OperationalError, ProgrammingError, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from blog import policy, services
from blog.files import front_matter, images
from blog.files.addresses import read_old_slugs
from blog.files.authors import NO_AUTHOR, get_or_create_authors
from blog.files.front_matter import MarkdownPost
from blog.files.reading import LimitedParser, MarkdownFile, ReadFile, read_files, read_markdown
from blog.files.syntax import InvalidFile, encode_values
from blog.models import MAX_TAGS, POST_OWN, DeletedPostSource, OldSlug, Post, PostSource, PostStatus
from blog.models.audit import Audit
from blog.services import slugs
from contentapi.core.errors import ApiError, Invalid
from contentapi.core.identity import Actor
from contentapi.core.policy import require_permission
from contentapi.db.distribution import get_backend
from contentapi.db.statements import execute
from contentapi.events.triggers import silence

logger = logging.getLogger("contentapi.importing")
# Of the posts whose files state none
STATES = [status for status in PostStatus if status != PostStatus.SCHEDULED]
DEFAULT_STATE = PostStatus.PUBLISHED
UNEXPECTED = "An unexpected error happened. The operator finds it in the log."
SOURCE_COLUMNS = ("source", "path", "digest", "authors", "front_matter", "status", "publish_at")


class ImportOutcome(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    NOT_A_POST = "not a post"
    REFUSED = "refused"


@dataclass(frozen=True)
class FileReport:
    """What the import of a file did or, in a dry run, would do: a new post then has no row and no id.

    `reason` is why it was refused. `notes` say what was guessed, and which images cannot be used.
    """

    file: MarkdownFile
    outcome: ImportOutcome
    reason: str = ""
    post: Post | None = None
    notes: Sequence[str] = ()
    wanted_slug: str = ""


class Earlier(NamedTuple):
    """The source and path of earlier files of an import, without pages that are no posts; in a dry run also slugs."""

    files: set[tuple[str, str]]
    slugs: set[str]


def import_files(
    *,
    actor: Actor,
    files: Sequence[MarkdownFile],
    status: str = DEFAULT_STATE,
    dry_run: bool = False,
    silent: bool = False,
) -> Iterator[FileReport]:
    """Import the files; yield the report of each. A refused file stops no other. A silent import sends no events."""
    earlier = Earlier(set(), set())
    with closing(LimitedParser()) as parser:
        for read in read_files(parser, files):
            with silence() if silent else nullcontext():
                report = import_read_file(actor=actor, read=read, earlier=earlier, status=status, dry_run=dry_run)
            yield report


def import_read_file(
    *, actor: Actor, read: ReadFile, earlier: Earlier, status: str, dry_run: bool = False
) -> FileReport:
    """Import a file that was read, and return the report."""
    file = read.file
    if (file.source, file.path) in earlier.files:  # it would overwrite the post of the other file
        reason = f"another file of this import has the path {file.path} in the source {file.source} too"
        return FileReport(file, ImportOutcome.REFUSED, reason)
    require_import_permission(actor)
    try:
        report = save_read_file(actor, read, status, dry_run=dry_run)
    except (InterfaceError, InternalError, OperationalError, ProgrammingError):  # of the database, not of the file
        raise
    except (InvalidFile, ApiError) as error:
        report = FileReport(file, ImportOutcome.REFUSED, str(error))
    except Exception:  # whatever goes wrong in one file stops no other
        logger.exception("The file %s cannot be imported.", file.path)
        report = FileReport(file, ImportOutcome.REFUSED, UNEXPECTED)
    if report.outcome != ImportOutcome.NOT_A_POST:
        earlier.files.add((file.source, file.path))
    if dry_run and report.post and report.post.slug:
        if report.wanted_slug and report.post.slug in earlier.slugs:  # it would get another one after the earlier files
            report.post.slug = slugs.find_free_slug(report.wanted_slug, report.post.pk, earlier.slugs)
        earlier.slugs.add(str(report.post.slug))
    return report


def record_import(actor: Actor, counts: Mapping[str, int]) -> None:
    """Write a line of the audit log with the number of files of each outcome."""
    outcomes = {outcome.replace(" ", "_"): number for outcome, number in counts.items()}
    Audit.IMPORT_FINISHED.record(actor, "import", **outcomes)


def require_import_permission(actor: Actor) -> None:
    """Raise an error unless the actor may write and publish posts of all authors: the files name both."""
    require_permission(actor, policy.may_import_posts(actor), "import posts")


def import_file(
    *, actor: Actor, file: MarkdownFile, status: str = DEFAULT_STATE, dry_run: bool = False
) -> ImportOutcome:
    """Import a file of this project, which is parsed without limits. Raises `InvalidFile`."""
    require_import_permission(actor)
    return save_read_file(actor, read_markdown(file), status, dry_run=dry_run).outcome


@transaction.atomic
def save_read_file(actor: Actor, read: ReadFile, status: str, *, dry_run: bool) -> FileReport:
    """Create or update the post of a changed file. Raises `InvalidFile`.

    A state in the file overrides `status`. The first author becomes the post's author, the others co-authors. A changed
    file overwrites edits that were made in this service, but status and time of publication only if it has other ones
    than at its last import. A date in the future is a time of publication; the post is created and changed now.
    """
    if read.reason:
        raise InvalidFile(read.reason)
    if read.post is None:
        return FileReport(read.file, ImportOutcome.NOT_A_POST)
    report = save_imported_post(actor, read.file, read.digest, read.post, status, dry_run=dry_run)
    transaction.set_rollback(dry_run)
    return report


def save_imported_post(
    actor: Actor, file: MarkdownFile, digest: bytes, parsed: MarkdownPost, default: str, *, dry_run: bool = False
) -> FileReport:
    # Concurrent imports, also of a release beside this one, process one file at a time, and create no post twice.
    execute("SELECT pg_advisory_xact_lock(hashtext('blog.importing'))")
    now = timezone.now()
    parsed = front_matter.move_future_date(parsed, now)
    sources = PostSource.objects.select_related("post__author").filter(source=file.source, path=file.path)
    known: PostSource | None = get_backend().lock(sources, of=("post",)).first()
    if known and bytes(known.digest) == digest:
        return FileReport(file, ImportOutcome.UNCHANGED, post=known.post)
    parsed = images.import_images(actor, parsed, file.read_image, dry_run=dry_run)
    post = known.post if known else Post(created_at=now)
    previous = post.created_at  # the date of the file at its last import
    was_published = known is not None and post.status == PostStatus.PUBLISHED
    slug = choose_slug(post, parsed)
    post.slug_is_chosen |= bool(parsed.content["slug"]) or slug not in (None, post.slug)
    apply_content(post, parsed)
    status, publish_at = choose_state(parsed, default)
    if not known or (known.status, known.publish_at) != (status, publish_at):
        post.status, post.publish_at = status, publish_at
    released = min(parsed.release_date or post.created_at, now)
    if parsed.published_at:
        post.published_at = parsed.published_at
    elif post.status == PostStatus.PUBLISHED and (post.published_at is None or post.published_at == previous):
        post.published_at = released
    post.version += 1 if known else 0
    post.updated_at = parsed.updated or (now if known else post.created_at)
    services.attribute_change(post, actor)
    if post.status == PostStatus.PUBLISHED:
        services.render(post)
    old_slugs = read_old_slugs(parsed.other)
    wanted = slug or slugs.make_slug(post.title)
    if known is None:
        release_slugs(file, wanted, old_slugs)
    slugs.save_with_free_slug(post, slug)
    slugs.keep_old_slugs(post, old_slugs)
    source = known or PostSource(post=post)
    source.source, source.path, source.digest = file.source, file.path, digest
    source.authors, source.front_matter = list(parsed.authors), encode_values(parsed.other)
    source.status, source.publish_at = status, publish_at
    if not services.sources.claim_file(file.source, file.path, post.pk):
        raise InvalidFile("Another post has just been imported from this file.")
    source.save(update_fields=SOURCE_COLUMNS if known else None)
    if post.status == PostStatus.PUBLISHED and not was_published:
        services.posts.count_publication(actor)
    outcome = ImportOutcome.UPDATED if known else ImportOutcome.CREATED
    return FileReport(file, outcome, post=post, notes=parsed.notes, wanted_slug=wanted)


def release_slugs(file: MarkdownFile, base: str, old_slugs: Sequence[str]) -> None:
    """Free those of the slugs that deleted posts of this file have, also `base` with a number: it is the same page."""
    deleted = DeletedPostSource.objects.filter(source=file.source, path=file.path).values("post_id")
    restored = Post.objects.filter(pk=OuterRef("post_id"))
    wanted = Q(slug__in=old_slugs) | Q(slug__regex=rf"^{base}(-\d+)?$")
    OldSlug.objects.filter(wanted, ~Exists(restored), post_id__in=deleted).delete()


def choose_state(parsed: MarkdownPost, default: str) -> tuple[str, datetime | None]:
    """Return the status of the file and the time of publication. A file of the future is not published yet."""
    if parsed.status:
        return parsed.status, parsed.publish_at
    release = parsed.release_date
    if default == PostStatus.PUBLISHED and release and release > timezone.now():
        return PostStatus.SCHEDULED, release
    return default, None


def choose_slug(post: Post, parsed: MarkdownPost) -> str | None:
    """Return the slug that the file states; without one the present slug, or that of the file's name."""
    stated: str | None = parsed.content["slug"]
    is_fixed = post.slug and (post.published_at or not slugs.follows_title(post))
    return stated or (post.slug if is_fixed else None) or parsed.file_slug


def apply_content(post: Post, parsed: MarkdownPost) -> None:
    try:
        own = POST_OWN.apply(post.own, parsed.content.get("own", {}))
        values = services.validate_post(parsed.content | {"own": own}, body_before=post.body)
    except Invalid as error:
        note = " Categories are tags too." if len(parsed.content["tags"]) > MAX_TAGS else ""
        raise InvalidFile(f"{error.message}{note}") from None
    for name, value in values.items():
        setattr(post, name, value)
    post.author, *coauthors = get_or_create_authors(parsed.authors or [NO_AUTHOR])
    post.coauthor_ids = [coauthor.pk for coauthor in coauthors]
    post.coauthor_names = [coauthor.name for coauthor in coauthors]  # type: ignore[attr-defined]  # also of a dry run
    post.created_at = parsed.date or post.created_at
