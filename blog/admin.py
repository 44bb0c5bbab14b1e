"""The blog in the admin site. Its forms read what a browser sends; the services decide and write."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.forms import SimpleArrayField
from django.db import models
from django.http import HttpRequest

from blog import selectors, services
from blog.models import MAX_TAG, MAX_TAGS, Author, Comment, Post, PostSource, PostStatus
from blog.selectors import PostCriteria
from contentapi.core.errors import ApiError, Conflict, Invalid, Malformed
from contentapi.core.identity import Actor
from users.admin_site import ServiceAdmin, ServiceForm
from users.authentication import build_session_actor

STATE = {"status", "publish_at"}


class LinesField(SimpleArrayField):
    """A list of texts, one on each line. Empty lines are ignored."""

    widget = forms.Textarea(attrs={"rows": 4})

    def __init__(self, base_field: forms.Field, **options: Any) -> None:
        super().__init__(base_field, delimiter="\n", **options)

    def to_python(self, value: Any) -> Any:
        lines = [line for line in value.splitlines() if line.strip()] if isinstance(value, str) else value
        return super().to_python(lines)


class PostForm(ServiceForm):
    body = forms.CharField(widget=forms.Textarea(attrs={"rows": 30, "cols": 100}), strip=False, required=False)
    tags = LinesField(
        forms.CharField(max_length=MAX_TAG),
        max_length=MAX_TAGS,
        required=False,
        help_text=f"One on each line; at most {MAX_TAGS}.",
    )
    opened_version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    api_fields = {"authorId": "author", "publishAt": "publish_at"}

    class Meta:
        model = Post
        fields = ["title", "body", "author", "tags", "status", "publish_at"]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["opened_version"].initial = self.instance.version

    def clean_body(self) -> str:
        """Undo what browsers do to line ends: they send CR LF for every line end of the text."""
        stored, sent = self.initial.get("body", ""), str(self.cleaned_data["body"]).replace("\r\n", "\n")
        return stored if stored.replace("\r\n", "\n") == sent else sent

    def clean(self) -> dict[str, Any] | None:
        """Validate the time of publication before the model's constraint does, which would not name the field."""
        cleaned = super().clean() or self.cleaned_data
        status = cleaned.get("status")
        if status != PostStatus.SCHEDULED and "publish_at" not in self.changed_data:
            cleaned["publish_at"] = None  # the form still has the old time of a post that was scheduled
        if status and (self.instance.pk is None or STATE & set(self.changed_data)):
            try:
                services.validate_publish_at(status, cleaned.get("publish_at"))
            except Invalid as error:
                self.add_api_error(error)
        return cleaned

    def add_api_error(self, error: ApiError) -> None:
        if not isinstance(error, Conflict):
            super().add_api_error(error)
        elif self.instance.pk and self.cleaned_data["opened_version"] != self.instance.version:
            self.add_error(None, "Somebody has changed this post since you opened it. Open it again to see how.")
        else:
            self.add_error("status", error.message)


class SourceInline(admin.StackedInline):
    model = PostSource
    exclude = ["digest"]
    readonly_fields = ["path", "authors", "status", "publish_at"]
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Post | None = None) -> bool:
        return False


@admin.register(Post)
class PostAdmin(ServiceAdmin):
    form = PostForm
    inlines = [SourceInline]
    list_display = ["title", "author", "status", "created_at", "updated_at"]
    list_filter = ["status"]
    list_select_related = ["author"]
    search_fields = ["title"]  # shows the search box; `get_search_results` searches
    date_hierarchy = "created_at"
    ordering = ["-created_at", "-id"]
    autocomplete_fields = ["author"]

    def get_readonly_fields(self, request: HttpRequest, obj: Post | None = None) -> list[str]:
        return ["author", "created_at", "updated_at"] if obj else []

    def get_search_results(
        self, request: HttpRequest, queryset: models.QuerySet[Post], search_term: str
    ) -> tuple[models.QuerySet[Post], bool]:
        """Return the posts that the search of the API finds, in the order of the list."""
        if not search_term.strip():
            return queryset, False
        try:
            criteria = PostCriteria.parse(search=search_term)
        except Malformed as error:
            self.message_user(request, error.message, messages.WARNING)
            return queryset.none(), False
        found = selectors.select_posts(build_session_actor(request.user), criteria).queryset()
        return queryset.filter(pk__in=found.order_by().values("pk")), False

    def create(self, actor: Actor, row: Post, form: PostForm) -> Post:
        values = {name: form.cleaned_data[name] for name in ("title", "body", "tags", "status", "publish_at")}
        return services.create_post(actor=actor, author_id=str(row.author_id), **values)

    def edit(self, actor: Actor, row: Post, form: PostForm) -> None:
        changes = {name: form.cleaned_data[name] for name in form.changed_data if name != "opened_version"}
        version = str(form.cleaned_data["opened_version"])
        services.edit_post(actor=actor, post_id=str(row.pk), changes=changes, expected_version=version)

    def delete(self, actor: Actor, row: Post) -> None:
        services.delete_post(actor=actor, post_id=str(row.pk))


@admin.register(Author)
class AuthorAdmin(ServiceAdmin):
    list_display = ["name", "email", "user"]
    list_select_related = ["user"]
    search_fields = ["name", "email"]
    ordering = ["name"]
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}
    raw_id_fields: ClassVar = ["user"]

    def create(self, actor: Actor, row: Author, form: ServiceForm) -> Author:
        return services.save_author(actor=actor, author=row)

    def edit(self, actor: Actor, row: Author, form: ServiceForm) -> None:
        services.save_author(actor=actor, author=row)

    def delete(self, actor: Actor, row: Author) -> None:
        services.delete_author(actor=actor, author_id=str(row.pk))


@admin.register(Comment)
class CommentAdmin(ServiceAdmin):
    list_display = ["__str__", "author", "post", "created_at"]
    list_select_related = ["author", "post"]
    search_fields = ["body", "author__name", "post__title"]
    ordering = ["-created_at", "-id"]
    autocomplete_fields = ["post", "author"]

    def get_readonly_fields(self, request: HttpRequest, obj: Comment | None = None) -> list[str]:
        return ["post", "author"] if obj else []

    def create(self, actor: Actor, row: Comment, form: ServiceForm) -> Comment:
        return services.add_comment(actor=actor, post_id=str(row.post_id), body=row.body, author_id=str(row.author_id))

    def edit(self, actor: Actor, row: Comment, form: ServiceForm) -> None:
        services.edit_comment(actor=actor, comment_id=str(row.pk), body=row.body)

    def delete(self, actor: Actor, row: Comment) -> None:
        services.delete_comment(actor=actor, comment_id=str(row.pk))
