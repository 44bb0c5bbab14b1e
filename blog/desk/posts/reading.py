"""What nobody changes in the form of a post: the page for its co-authors, and the file that it was imported from."""

from typing import Any, ClassVar

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from blog import services
from blog.desk.images.library import render_thumbnail
from blog.files.syntax import decode_value, dump_front_matter
from blog.models import Image, Post
from contentapi.desk.forms import ServiceForm

PANEL = "Address and search engines"
TIMES = ["show_published_at", "show_created_at", "show_updated_at"]
FIELDSETS: list[tuple[str | None, dict[str, Any]]] = [
    (None, {"fields": ["title", "show_text", "show_tags", "author", "show_coauthors", *TIMES]}),
    (PANEL, {"fields": ["slug", "canonical_url", "excerpt", "description", "show_cover"]}),
]
SOURCE = ["show_source", "show_path", "show_file_authors", "show_file_status", "show_file_time", "show_front_matter"]


class ReadingForm(ServiceForm):
    """The form of a page without fields to fill in. It needs the styles of the text, and no script of the editor."""

    class Meta:
        labels: ClassVar = {"canonical_url": "Canonical URL"}

    class Media:
        css = {"all": ["blog/reading.css", "blog/images.css"]}


def render_text(post: Post) -> SafeString:
    """Return the text of a post as readers see it."""
    html = services.render_body(post.body)
    return format_html('<div class="reading" dir="auto">{}</div>', html)


def render_cover(post: Post) -> SafeString | None:
    """Return the cover with its name, as a link to its page; None without one, and for a deleted image."""
    image = Image.objects.filter(pk=post.cover_id or 0, deleted_at=None).first()
    if image is None:
        return None
    page = reverse("admin:blog_image_change", args=[image.pk])
    return format_html('<a href="{}">{} {}</a>', page, render_thumbnail(image), image.name)


def show_front_matter(post: Post) -> SafeString | str:
    """Return the keys of the file of an imported post that have no field here, as `export_posts` writes them."""
    kept = post.source.front_matter
    return format_html("<pre>{}</pre>", dump_front_matter(decode_value(kept))) if kept else "None"
