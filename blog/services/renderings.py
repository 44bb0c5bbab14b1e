"""The rendering of posts: written together with a public post, and by the worker for all others.

A rendering is that of the version in `rendered_version`. So a change by SQL, or by a server of an earlier release,
which writes none, makes it outdated: the API then shows none, and the worker finds the post.
"""

from collections.abc import Mapping, Sequence
from threading import Event
from typing import Any

from django.db import transaction
from django.utils.safestring import SafeString

from blog.images.formats import WEBP
from blog.models import IS_UNRENDERED, RENDERED, Image, Post, PostStatus
from blog.models.images import IS_SHOWN_LATE
from blog.rendering import RENDERER, ShownImage, render_markdown, render_post
from contentapi.db.distribution import get_backend
from contentapi.media.access import get_media_url
from contentapi.worker.items import try_item

TEXTS = {"body", "excerpt"}  # of which a rendering is made
POSTS_AT_ONCE = 10  # that the worker keeps locked while it renders them
POSTS_OUTDATED_AT_ONCE = 500  # by one statement
IMAGES_AT_ONCE = 100  # whose posts are found before others are rendered
FALLBACK_WIDTH = 960  # of the file for programs that read no `srcset`
FALLBACK = 1  # its place in `formats`: JPEG or PNG, which every program shows


def build_rendering(body: str, excerpt: str | None, version: int) -> dict[str, Any]:
    """Return the values of the columns `RENDERED`."""
    rendering = render_post(body, excerpt, find_shown_images)
    return {**rendering._asdict(), "rendered_version": version, "renderer": RENDERER}


def render_body(body: str, *, with_lines: bool = False) -> SafeString:
    """Return the HTML of a text with its images; `with_lines` adds the line of each element."""
    return render_markdown(body, with_lines=with_lines, find_images=find_shown_images)


def find_shown_images(ids: Sequence[int]) -> dict[int, ShownImage]:
    """Return those of the images that are ready and not deleted, by their ids. Executes one statement."""
    images = Image.objects.filter(pk__in=ids, deleted_at=None).exclude(original="")
    return {image.pk: describe_image(image) for image in images}


def describe_image(image: Image) -> ShownImage:
    """Return what a text shows of an image."""
    start = f"{get_media_url()}/{image.name_file('')}"
    source = f"{start}{image.choose_width(FALLBACK_WIDTH)}.{image.formats[FALLBACK]}"
    srcset = ", ".join(f"{start}{width}.{WEBP.extension} {width}w" for width in image.widths)
    return ShownImage(source, srcset, image.width, image.height, image.alt)


def render(post: Post) -> None:
    """Render the present version of a post. The caller saves it."""
    for name, value in build_rendering(post.body, post.excerpt, post.version).items():
        setattr(post, name, value)


def adapt_rendering(post: Post, changed: Mapping[str, Any], old_version: int) -> list[str]:
    """Adapt the rendering to the changes of a new version: a public post has one. Returns the columns to save."""
    if post.rendered_version == old_version and not changed.keys() & TEXTS:
        post.rendered_version = post.version
        return ["rendered_version"]
    if post.status != PostStatus.PUBLISHED:
        return []
    render(post)
    return RENDERED


def render_posts(stop: Event) -> int:
    """Render the posts without a present rendering. Return early when `stop` is set. Returns the number of posts."""
    for image in Image.objects.filter(IS_SHOWN_LATE).only("version").order_by("pk")[:IMAGES_AT_ONCE]:
        try_item("rendering", f"image {image.pk}", outdate_posts, image)
    rendered = last = 0
    while not stop.is_set():
        posts = render_some(last)
        rendered += len(posts)
        if len(posts) < POSTS_AT_ONCE:
            break
        last = posts[-1].pk  # those that failed wait for the next round
    return rendered


def outdate_posts(image: Image) -> None:
    """Let the posts be rendered again whose text has an image, some at a time. Until then they are as they were."""
    posts, last = Post.objects.filter(image_ids__contains=[image.pk]).order_by("pk").values_list("pk", flat=True), 0
    while pks := list(posts.filter(pk__gt=last)[:POSTS_OUTDATED_AT_ONCE]):
        Post.objects.filter(pk__in=pks).update(renderer=0)
        last = pks[-1]
    Image.objects.filter(pk=image.pk, version=image.version).update(posts_outdated=False)


@transaction.atomic
def render_some(after: int) -> list[Post]:
    """Render and return posts after an id that nobody has locked. The lock keeps each text while it is rendered."""
    unrendered = Post.objects.filter(IS_UNRENDERED, pk__gt=after).order_by("pk").only("version", "excerpt", "body")
    posts = list(get_backend().lock(unrendered, POSTS_AT_ONCE, skip_locked=True))
    for post in posts:
        try_item("rendering", f"post {post.pk}", save_rendering, post)
    return posts


@transaction.atomic
def save_rendering(post: Post) -> None:
    render(post)
    post.save(update_fields=RENDERED)
