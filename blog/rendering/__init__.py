"""Rendering: Markdown as sanitised HTML, and the default texts of a post.

This is the only place that renders posts: for the API, for the preview in the desk.
"""

import html as entities
from typing import NamedTuple

from blog.rendering.addresses import list_addresses
from blog.rendering.images import OURS, FindImages, ShownImage, find_no_images, list_used_images
from blog.rendering.limits import MAX_IMAGES
from blog.rendering.markdown import insert_images, render_markdown, sanitize_markdown
from blog.rendering.summaries import extract_text, make_description, make_excerpt
from contentapi.core.text import count_byte

# The number of this renderer. Increase it with every change of its output, also by another version of comrak or nh3,
# and run `makemigrations`: the worker finds the posts of earlier ones by an index, which has the number in its name. A
# test compares the output.
RENDERER = 5


class Rendering(NamedTuple):
    """What is made of the text of a post. The names are those of the columns.

    `image_ids` and `image_alts` are the images of the text, also those that are not shown, and their texts; None if it
    has none.
    """

    body_html: str
    default_excerpt: str
    default_description: str
    image_ids: list[int] | None
    image_alts: list[str] | None


def render_post(body: str, excerpt: str | None, find_images: FindImages = find_no_images) -> Rendering:
    """Render the text of a post that has this excerpt of its own, or none."""
    html, used = insert_images(sanitize_markdown(body), find_images)
    default = make_excerpt(html)
    ids, alts = [image.id for image in used], [image.alt for image in used]
    return Rendering(html, default, make_description(excerpt or default), ids or None, alts or None)


def count_images(body: str) -> int:
    """Return the number of images that a text names, each once; 0 if its addresses exclude too many."""
    text = entities.unescape(body)
    if count_byte(text.encode("utf-8", "replace"), b":") <= MAX_IMAGES:  # each address has a colon
        return 0
    addresses = OURS.findall(text.replace("\\", ""))
    return len(list_used_images(sanitize_markdown(body))) if len(addresses) > MAX_IMAGES else 0


def extract_visible_text(body: str) -> str:
    """Return what readers of a text see of its words, in one line."""
    return extract_text(sanitize_markdown(body))
