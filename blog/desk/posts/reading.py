"""What nobody changes in the form of a post: the page for its co-authors, and the file that it was imported from."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import StackedInline

from blog import policy, services
from blog.desk.images.library import render_thumbnail
from blog.desk.posts import address
from blog.files.syntax import decode_value, dump_front_matter
from blog.models import Image, Post, PostSource
from contentapi.desk.bases import get_actor
from contentapi.desk.service_admin import ServiceForm

TIMES = ["show_published_at", "show_created_at", "show_updated_at"]
FIELDSETS: list[tuple[str | None, dict[str, Any]]] = [
    (None, {"fields": ["title", "show_text", "show_tags", "author", "show_coauthors", *TIMES]}),
    (address.PANEL, {"fields": ["slug", "canonical_url", "excerpt", "description", "show_cover"]}),
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


class SourceForm(forms.ModelForm):
    class Meta:
        help_texts: ClassVar = {"status": "The status that the last import called for."}


class SourceInline(StackedInline):
    """The file that a post was imported from, below its form."""

    model = PostSource
    form = SourceForm
    exclude = ["digest", "front_matter"]
    readonly_fields = ["source", "path", "authors", "status", "publish_at", "other_front_matter"]

    @admin.display(description="other front matter", empty_value="None")
    def other_front_matter(self, source: PostSource) -> str | None:
        """Return the keys of the file that have no field here, as `export_posts` writes them."""
        if not source.front_matter:
            return None
        return format_html("<pre>{}</pre>", dump_front_matter(decode_value(source.front_matter)))

    def has_view_permission(self, request: HttpRequest, obj: Post | None = None) -> bool:
        actor = get_actor(request)
        return policy.may_write_posts(actor) if obj is None else policy.may_write_posts_of(actor, obj.author.user_id)

    def has_add_permission(self, request: HttpRequest, obj: Post | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Post | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Post | None = None) -> bool:
        return False
