"""The slugs of posts: how they are made, and which of them are free.

A slug that a post has or had is taken, except by that post. A unique index guards the present ones: of several
transactions with one slug, all but one find another.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event
from typing import Any

from anyascii import anyascii
from django.db import IntegrityError, transaction
from django.db.models import Value

from blog.models import MAX_SLUG, OldSlug, Post, PostVersion
from contentapi.core.errors import Conflict
from contentapi.core.unicode import remove_invisible
from contentapi.db.distribution import get_backend, is_distributed
from contentapi.db.ids import take_id
from contentapi.worker.items import try_item

APOSTROPHES = re.compile("[\u2018\u2019\u02bc]")
PARTS = re.compile("[a-z0-9]+")
LETTER = re.compile("[a-z]")
NUMBERS_AT_ONCE = 64  # that one statement compares
FIRST_NUMBERS = (*range(1, NUMBERS_AT_ONCE + 1), *(2**power for power in range(7, 30)))
POSTS_AT_ONCE = 100  # posts without a slug that are read at once


def make_slug(title: str) -> str:
    """Return the slug of a title; an empty one if the title has no letter."""
    slug = spell_slug(title)
    return slug if LETTER.search(slug) else ""


def spell_slug(text: str) -> str:
    """Return a text in the characters of slugs, transliterated to a-z, 0-9 and hyphens."""
    if not text.isascii():  # symbols such as emojis have names, but are no letters
        text = APOSTROPHES.sub("", remove_invisible(text))
        kept = (char if char.isascii() or unicodedata.category(char)[0] in "LMN" else " " for char in text)
        text = anyascii("".join(kept))
    slug = "-".join(PARTS.findall(text.replace("'", "").lower()))
    if len(slug) > MAX_SLUG:
        slug = slug[: MAX_SLUG + 1].rpartition("-")[0] or slug[:MAX_SLUG]
    return slug


def number_slug(base: str, number: int) -> str:
    """Return the slug for the post with this number of those with one base: `title`, `title-2`, `title-3` …"""
    if number == 1:
        return base
    return f"{base[: MAX_SLUG - 1 - len(str(number))].rstrip('-')}-{number}"


def make_base(post: Post) -> str:
    """Return the slug of a post's title, without a number; that of its id if the title has no letter."""
    return make_slug(post.title) or f"post-{post.pk}"


def follows_title(post: Post) -> bool:
    """Whether the slug of a post is made from its title, and not chosen by a person.

    One that differs from the title was chosen too: in SQL, or by a server that did not store who chose it.
    """
    base, slug = make_base(post), post.slug or ""
    number = slug.rpartition("-")[2]
    is_made = slug == base or (number.isdecimal() and slug == number_slug(base, int(number)))
    return is_made and not post.slug_is_chosen


def find_free_slug(base: str, pk: int | None, planned: Collection[str] = ()) -> str:
    """Return the base with the lowest number that is free for a post, or nearly the lowest one: none of the planned.

    Executes one statement, unless more than 64 are taken, and six at most: for some numbers, then for those below the
    first free one.
    """
    low, free = 0, 2**30
    numbers: Sequence[int] = FIRST_NUMBERS
    while free - low > 1:
        slugs = [number_slug(base, number) for number in numbers]
        taken = {*planned, *list_taken_slugs(slugs, pk)}
        place = next((place for place, slug in enumerate(slugs) if slug not in taken), len(slugs))
        low = numbers[place - 1] if place else low
        free = numbers[place] if place < len(slugs) else free
        numbers = range(low + 1, free, -(-(free - low) // NUMBERS_AT_ONCE))
    return number_slug(base, free)


def list_taken_slugs(slugs: Iterable[str], pk: int | None) -> set[str]:
    """Return those of the slugs that another post has or had, and this one has not."""
    slugs = list(slugs)
    present = Post.objects.filter(slug__in=slugs).values_list("slug", "pk", Value(True))  # noqa: FBT003 - a constant
    old = OldSlug.objects.filter(slug__in=slugs).values_list("slug", "post_id", Value(False))  # noqa: FBT003
    rows = list(present.union(old, all=True))
    own = {slug for slug, holder, is_present in rows if is_present and holder == pk}
    return {str(slug) for slug, holder, _ in rows if holder != pk} - own


def has_slug(slug: str, pk: int) -> bool:
    """Return whether a post has or had a slug."""
    return Post.objects.filter(pk=pk, slug=slug).exists() or OldSlug.objects.filter(post_id=pk, slug=slug).exists()


def claim_slug(slug: str, pk: int) -> bool:
    """Let no other post get a slug, on a distributed database. Return whether no other post has or had it."""
    return get_backend().claim("slug", slug, pk, has_slug)


def require_free_slug(slug: str, pk: int | None) -> str:
    """Return the slug. Raises `Conflict` if another post has or had it."""
    if list_taken_slugs([slug], pk):
        raise build_conflict(slug)
    return slug


def build_conflict(slug: str) -> Conflict:
    return Conflict(f"The slug {slug} is taken: another post has or had it.")


@contextmanager
def refuse_taken_slug(slug: str | None, pk: int) -> Iterator[None]:
    """Raise `Conflict` if a statement inside the block fails because another transaction took the slug."""
    try:
        with transaction.atomic():
            if slug is not None and not claim_slug(slug, pk):
                raise build_conflict(slug)
            yield
    except IntegrityError as error:
        if "blog_post_slug" in str(error):
            raise build_conflict(str(slug)) from None
        raise


def save_with_free_slug(post: Post, wanted: str | None, **options: Any) -> None:
    """Save a post with the wanted slug; with a number if it is taken, and from the title if it is None."""
    base = wanted or make_slug(post.title)
    if not post.pk and is_distributed():  # a claim names the post
        post.pk, options = take_id(), {**options, "force_insert": True}
    is_saved = False
    while not is_saved:  # until no other transaction takes the slug at the same moment
        post.slug = find_free_slug(base, post.pk) if base else None
        with suppress(Conflict), refuse_taken_slug(post.slug, post.pk):
            post.save(**options)
            is_saved = True
    if post.slug is None:
        give_first_slug(post)


def keep_old_slugs(post: Post, slugs: Sequence[str]) -> None:
    """Let the free ones of these slugs lead to a post."""
    if not slugs:
        return
    free = set(slugs) - list_taken_slugs(slugs, post.pk) - {post.slug}
    rows = (OldSlug(slug=slug, post_id=post.pk) for slug in sorted(free) if claim_slug(slug, post.pk))
    OldSlug.objects.bulk_create(rows, ignore_conflicts=True)


@transaction.atomic
def give_first_slug(post: Post) -> None:
    """Give a slug to a post that was created without one. That is no change of the post, nor of its history."""
    while post.slug is None:  # until no other transaction takes the slug at the same moment
        slug = find_free_slug(make_base(post), post.pk)
        with suppress(Conflict), refuse_taken_slug(slug, post.pk):
            Post.objects.filter(pk=post.pk).update(slug=slug)
            PostVersion.objects.filter(id=post.pk, slug=None).update(slug=slug)
            post.slug = slug


def give_first_slugs(stop: Event) -> int:
    """Give slugs to all posts without one. Return early when `stop` is set. Returns the number of posts."""
    given = last = 0
    posts = Post.objects.filter(slug=None).order_by("pk").values_list("pk", flat=True)
    while ids := list(posts.filter(pk__gt=last)[:POSTS_AT_ONCE]):
        for last in ids:
            if stop.is_set():
                return given
            given += bool(try_item("slugs", f"post {last}", give_slug_if_free, last))
    return given


@transaction.atomic
def give_slug_if_free(pk: int) -> bool:
    """Give a post its first slug. Return whether it had none, and no other transaction has locked it."""
    post = Post.objects.filter(pk=pk, slug=None).select_for_update(skip_locked=True).only("title", "slug").first()
    if post is not None:
        give_first_slug(post)
    return post is not None
