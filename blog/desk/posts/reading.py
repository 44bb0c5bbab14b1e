"""What nobody changes in the form of a post: the page for its co-authors, and the file that it was imported from."""

from typing import Any, ClassVar

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from blog import services
from blog.desk.images.library import render_thumbnail
from blog.files.syntax import decode_value, dump_front_matter
from blog.models import Image, Post
from contentapi.desk.forms import ServiceForm
from contentapi.desk.rendering import render_time

PANEL = "Address and search engines"
TIMES = ["show_published_at", "show_created_at", "show_updated_at"]
FIELDSETS: list[tuple[str | None, dict[str, Any]]] = [
    (None, {"fields": ["title", "show_text", "show_tags", "author", "show_coauthors", *TIMES]}),
    (PANEL, {"fields": ["slug", "canonical_url", "excerpt", "description", "show_cover"]}),
]


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


def render_source(post: Post) -> SafeString:
    """Return what an import has read from the file of a post that has no field here."""
    source = post.source
    kept = dump_front_matter(decode_value(source.front_matter)) if source.front_matter else "None"
    rows = {
        "Source": source.source,
        "Path": source.path,
        "Authors": ", ".join(source.authors),
        "Status of the last import": source.status,
        "Publish at, of the last import": render_time(source.publish_at) or "None",
        "Other front matter": format_html("<pre>{}</pre>", kept),  # as `export_posts` writes it
    }
    return format_html("<dl>{}</dl>", format_html_join("", "<dt>{}</dt><dd>{}</dd>", rows.items()))
