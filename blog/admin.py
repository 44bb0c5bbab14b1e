from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.postgres.forms import SimpleArrayField
from django.db import models
from django.http import HttpRequest

from blog import services
from blog.models import MAX_TAG, MAX_TAGS, Author, Comment, Post, PostSource, PostStatus
from contentapi.core.errors import ApiError
from users.authentication import build_session_actor

MOVING = {"status", "publish_at"}


class LinesField(SimpleArrayField):
    """Texts, one on each line; empty lines do not count."""

    widget = forms.Textarea(attrs={"rows": 4})

    def __init__(self, base_field: forms.Field, **options: Any) -> None:
        super().__init__(base_field, delimiter="\n", **options)

    def to_python(self, value: Any) -> Any:
        lines = [line for line in value.splitlines() if line.strip()] if isinstance(value, str) else value
        return super().to_python(lines)


class PostForm(forms.ModelForm):
    body = forms.CharField(widget=forms.Textarea(attrs={"rows": 30, "cols": 100}), strip=False, required=False)
    tags = LinesField(
        forms.CharField(max_length=MAX_TAG),
        max_length=MAX_TAGS,
        required=False,
        help_text=f"One on each line; at most {MAX_TAGS}.",
    )

    opened_version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Post
        fields = ["title", "body", "author", "tags", "status", "publish_at"]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["opened_version"].initial = self.instance.version

    def clean_opened_version(self) -> None:
        """Refuse a form that was opened before somebody else changed the post: it would undo their change."""
        if self.instance.pk and self.cleaned_data["opened_version"] != self.instance.version:
            raise forms.ValidationError("Somebody has changed this post since you opened it. Open it again to see how.")

    def clean_body(self) -> str:
        """Undo what browsers do to line ends: they send CR LF, whatever the text had."""
        stored, sent = self.initial.get("body", ""), str(self.cleaned_data["body"]).replace("\r\n", "\n")
        return stored if stored.replace("\r\n", "\n") == sent else sent

    def clean(self) -> dict[str, Any] | None:
        """Refuse a move that the service would refuse, while the editor's text is still in the form."""
        cleaned = super().clean() or self.cleaned_data
        old, new = self.initial.get("status", PostStatus.DRAFT), cleaned.get("status")
        if new != PostStatus.SCHEDULED and "publish_at" not in self.changed_data:
            cleaned["publish_at"] = None  # a move away from scheduled takes the old time along
        if new and (self.instance.pk is None or MOVING & set(self.changed_data)):
            try:
                services.require_move(old, new, cleaned.get("publish_at"))
            except ApiError as refusal:
                self.add_error("publish_at" if "publishAt" in refusal.fields else "status", refusal.message)
        return cleaned


class SourceInline(admin.StackedInline):
    model = PostSource
    exclude = ["digest"]
    readonly_fields = ["path", "authors", "status", "publish_at"]
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Post | None = None) -> bool:
        return False


@admin.register(Post)
class PostAdmin(admin.ModelAdmin):
    form = PostForm
    inlines = [SourceInline]
    list_display = ["title", "author", "status", "created_at", "updated_at"]
    list_filter = ["status"]
    list_select_related = ["author"]
    search_fields = ["title", "author__name"]
    date_hierarchy = "created_at"
    ordering = ["-created_at", "-id"]
    autocomplete_fields = ["author"]

    def get_readonly_fields(self, request: HttpRequest, obj: Post | None = None) -> list[str]:
        return ["author", "created_at", "updated_at"] if obj else []

    def save_model(self, request: HttpRequest, obj: Post, form: PostForm, change: bool) -> None:
        actor = build_session_actor(request.user)
        values = form.cleaned_data
        if not change:
            created = services.create_post(
                actor=actor,
                title=values["title"],
                body=values["body"],
                author_id=str(values["author"].pk),
                tags=values["tags"],
                status=values["status"],
                publish_at=values["publish_at"],
            )
            obj.pk = created.pk
            return
        text = {name: values[name] for name in ("title", "body", "tags")}
        services.update_post(actor=actor, post_id=str(obj.pk), changes=text)
        if MOVING & set(form.changed_data):
            services.move_post(
                actor=actor, post_id=str(obj.pk), status=values["status"], publish_at=values["publish_at"]
            )


@admin.register(Author)
class AuthorAdmin(admin.ModelAdmin):
    list_display = ["name", "email", "user"]
    list_select_related = ["user"]
    search_fields = ["name", "email"]
    ordering = ["name"]
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}
    raw_id_fields: ClassVar = ["user"]


@admin.register(Comment)
class CommentAdmin(admin.ModelAdmin):
    list_display = ["__str__", "author", "post", "created_at"]
    list_select_related = ["author", "post"]
    search_fields = ["body", "author__name", "post__title"]
    ordering = ["-created_at", "-id"]
    autocomplete_fields = ["post", "author"]
