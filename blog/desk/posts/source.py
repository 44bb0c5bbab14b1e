"""The file that a post was imported from, below its form."""

from typing import ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.admin import StackedInline

from blog import policy
from blog.files.syntax import decode_value, dump_front_matter
from blog.models import Post, PostSource
from contentapi.desk.bases import get_actor


class SourceForm(forms.ModelForm):
    class Meta:
        help_texts: ClassVar = {"status": "The status that the last import called for."}


class SourceInline(StackedInline):
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
