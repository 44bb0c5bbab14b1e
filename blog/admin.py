"""The blog in the admin site. Its forms read what a browser sends; the services decide and write."""

from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.forms import SimpleArrayField
from django.db import models
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import StackedInline
from unfold.contrib.filters.admin import (
    AutocompleteSelectFilter,
    ChoicesDropdownFilter,
    RangeDateFilter,
    TextFilter,
)
from unfold.decorators import display

from blog import selectors, services
from blog.front_matter_syntax import decode_value, dump_front_matter
from blog.history_admin import HistoryAdmin
from blog.models import MAX_TAG, MAX_TAGS, Author, Comment, Post, PostSource, PostStatus
from blog.selectors import PostCriteria
from contentapi.core import policy
from contentapi.core.errors import ApiError, Conflict, Invalid, Malformed
from contentapi.core.identity import Actor
from users.admin_bases import BoundedList, ServiceAdmin, ServiceForm, Textarea, get_actor, render_time

STATE = {"status", "publish_at"}


class LinesField(SimpleArrayField):
    """A list of texts, one on each line. Empty lines are ignored."""

    widget = Textarea(attrs={"rows": 4})

    def __init__(self, base_field: forms.Field, **options: Any) -> None:
        super().__init__(base_field, delimiter="\n", **options)

    def to_python(self, value: Any) -> Any:
        lines = [line for line in value.splitlines() if line.strip()] if isinstance(value, str) else value
        return super().to_python(lines)


class PostForm(ServiceForm):
    body = forms.CharField(widget=Textarea(attrs={"rows": 30}), strip=False, required=False, help_text="Markdown.")
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


class TagFilter(TextFilter):
    title = "tag"
    parameter_name = "tag"

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Post]) -> models.QuerySet[Post]:
        tag = self.value()
        return queryset.filter(tags__contains=[tag]) if tag else queryset


class DayFilter(RangeDateFilter):
    """The days from a first to a last one, both included. A text that is no date is no limit."""

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        first, last = (parse_day(self.used_parameters.get(name)) for name in self.expected_parameters())
        if first is not None:
            queryset = queryset.filter(**{f"{self.parameter_name}__gte": begin_day(first)})
        if last is not None:
            queryset = queryset.filter(**{f"{self.parameter_name}__lt": begin_day(last) + timedelta(days=1)})
        return queryset


def parse_day(text: str | None) -> date | None:
    """Return the date; None for a text that is no date, and for a year that has no next day everywhere."""
    try:
        day = parse_date(text or "")
    except ValueError:
        return None
    return day if day and 1 < day.year < 9999 else None


def begin_day(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


class LightPostList(BoundedList):
    """A list of posts without their bodies, which no column shows."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        return super().get_queryset(request, exclude_parameters).defer("body")


class SourceInline(StackedInline):
    model = PostSource
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


@admin.register(Post)
class PostAdmin(HistoryAdmin):
    form = PostForm
    inlines = [SourceInline]
    list_display = ["title", "show_status", "author", "show_tags", "show_published_at", "show_updated_at"]
    list_filter = [
        ("status", ChoicesDropdownFilter),
        ("author", AutocompleteSelectFilter),
        TagFilter,
        ("created_at", DayFilter),
    ]
    list_lookups = frozenset(
        {"status__exact", "author__id__exact", "tag", "created_at_from", "created_at_to"},
    )
    list_filter_submit = True
    list_select_related = ["author"]
    sortable_by = ["show_published_at", "show_updated_at"]
    search_fields = ["title"]  # shows the search box; `get_search_results` searches
    ordering = ["-created_at", "-id"]
    autocomplete_fields = ["author"]

    def may_open(self, actor: Actor) -> bool:
        return policy.may_write_posts(actor)

    def select_rows(self, actor: Actor) -> models.QuerySet[Post]:
        return selectors.select_editable_posts(actor)

    def find_row(self, actor: Actor, row_id: str) -> Post | None:
        return selectors.find_post(actor, row_id)

    def may_see(self, actor: Actor, row: Post) -> bool:
        return policy.may_see_post(actor, row.author.user_id, row.status)

    def may_add(self, actor: Actor) -> bool:
        return policy.may_write_posts(actor)

    def may_change(self, actor: Actor, row: Post | None) -> bool:
        return policy.may_write_posts(actor) if row is None else policy.may_write_posts_of(actor, row.author.user_id)

    def may_delete(self, actor: Actor, row: Post | None) -> bool:
        return self.may_change(actor, row)

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[BoundedList]:
        return LightPostList

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        """Leave out the filter by author for actors who have posts of one author only."""
        everybodys = policy.may_manage_posts_and_authors(get_actor(request))
        return [each for each in self.list_filter if everybodys or each != ("author", AutocompleteSelectFilter)]

    def get_exclude(self, request: HttpRequest, obj: Post | None = None) -> list[str]:
        """Leave out the author of a new post for actors who write as themselves only."""
        return [] if obj or policy.may_manage_posts_and_authors(get_actor(request)) else ["author"]

    def get_readonly_fields(self, request: HttpRequest, obj: Post | None = None) -> list[str]:
        return ["author", "show_published_at", "show_created_at", "show_updated_at"] if obj else []

    @display(
        description="Status",
        label={
            PostStatus.DRAFT.value: "warning",
            PostStatus.SCHEDULED.value: "info",
            PostStatus.PUBLISHED.value: "success",
            PostStatus.ARCHIVED.value: "default",
        },
    )
    def show_status(self, post: Post) -> str:
        return str(post.status)

    @display(description="Tags")
    def show_tags(self, post: Post) -> str:
        return ", ".join(post.tags)

    @display(description="Published", ordering="publication_order")
    def show_published_at(self, post: Post) -> SafeString | None:
        return render_time(post.published_at)

    @display(description="Updated", ordering="updated_at")
    def show_updated_at(self, post: Post) -> SafeString | None:
        return render_time(post.updated_at)

    @display(description="Created", ordering="created_at")
    def show_created_at(self, post: Post) -> SafeString | None:
        return render_time(post.created_at)

    def count_dependents(self, rows: list[Any]) -> dict[str, int]:
        return {"comments": selectors.count_comments(rows)}

    def get_search_results(
        self, request: HttpRequest, queryset: models.QuerySet[Post], search_term: str
    ) -> tuple[models.QuerySet[Post], bool]:
        """Return the posts that the search of the API finds, in the order of the list."""
        if not search_term.strip():
            return queryset, False
        try:
            criteria = PostCriteria.parse(search=search_term)
        except Malformed as error:
            self.message_user(request, f"No posts are shown: {error.message}", messages.WARNING)
            return queryset.none(), False
        found = selectors.select_posts(get_actor(request), criteria).queryset()
        return queryset.filter(pk__in=found.order_by().values("pk")), False

    def create(self, actor: Actor, row: Post, form: PostForm) -> Post:
        values = {name: form.cleaned_data[name] for name in ("title", "body", "tags", "status", "publish_at")}
        author_id = str(row.author_id) if row.author_id else None
        post = services.create_post(actor=actor, author_id=author_id, **values)
        row.author_id = post.author_id  # the form of an author has no author
        return post

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
    fields = ["name", "bio", "avatar_url", "email", "user"]
    formfield_overrides: ClassVar = {
        **ServiceAdmin.formfield_overrides,
        models.URLField: {"assume_scheme": "https"},
    }
    raw_id_fields: ClassVar = ["user"]

    def may_open(self, actor: Actor) -> bool:
        return policy.may_write_posts(actor)

    def select_rows(self, actor: Actor) -> models.QuerySet[Author]:
        return selectors.select_editable_authors(actor)

    def find_row(self, actor: Actor, row_id: str) -> Author | None:
        return selectors.find_author(actor, row_id)

    def may_add(self, actor: Actor) -> bool:
        return policy.may_manage_posts_and_authors(actor)

    def may_change(self, actor: Actor, row: Author | None) -> bool:
        return policy.may_write_posts(actor) if row is None else policy.may_edit_author(actor, row.user_id)

    def may_delete(self, actor: Actor, row: Author | None) -> bool:
        return policy.may_manage_posts_and_authors(actor)

    def get_fields(self, request: HttpRequest, obj: Author | None = None) -> list[str]:
        """Return the fields that the actor may see: the account for editors, the email also for the author."""
        actor = get_actor(request)
        hidden = set() if policy.may_manage_posts_and_authors(actor) else {"user"}
        if obj and not policy.may_see_author_email(actor, obj.user_id):
            hidden.add("email")
        return [name for name in self.fields if name not in hidden]

    def get_readonly_fields(self, request: HttpRequest, obj: Author | None = None) -> list[str]:
        return [] if policy.may_manage_posts_and_authors(get_actor(request)) else ["email"]

    def create(self, actor: Actor, row: Author, form: ServiceForm) -> Author:
        return services.create_author(actor=actor, author=row)

    def edit(self, actor: Actor, row: Author, form: ServiceForm) -> None:
        changes = {name: form.cleaned_data[name] for name in form.changed_data}
        services.edit_author(actor=actor, author_id=str(row.pk), changes=changes)

    def delete(self, actor: Actor, row: Author) -> None:
        services.delete_author(actor=actor, author_id=str(row.pk))


class LightCommentList(BoundedList):
    """A list of comments without the bodies of their posts, which no column shows."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        return super().get_queryset(request, exclude_parameters).defer("post__body")


@admin.register(Comment)
class CommentAdmin(ServiceAdmin):
    list_display = ["__str__", "author", "post", "show_created_at"]
    list_filter = [("created_at", DayFilter)]
    list_lookups = frozenset({"created_at_from", "created_at_to"})
    list_filter_submit = True
    list_select_related = ["author", "post"]
    sortable_by = ["show_created_at"]
    search_fields = ["body", "author__name", "post__title"]
    ordering = ["-created_at", "-id"]
    autocomplete_fields = ["post", "author"]

    def may_open(self, actor: Actor) -> bool:
        return policy.may_moderate_comments(actor)

    def select_rows(self, actor: Actor) -> models.QuerySet[Comment]:
        return selectors.select_moderated_comments(actor)

    def find_row(self, actor: Actor, row_id: str) -> Comment | None:
        return selectors.find_comment(actor, row_id)

    def may_add(self, actor: Actor) -> bool:
        return policy.may_manage_comments(actor)

    def may_change(self, actor: Actor, row: Comment | None) -> bool:
        return policy.may_manage_comments(actor)

    def may_delete(self, actor: Actor, row: Comment | None) -> bool:
        if row is None:
            return policy.may_moderate_comments(actor)
        return policy.may_delete_comment_of(actor, row.author.user_id, row.post.author.user_id)

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[BoundedList]:
        return LightCommentList

    def get_readonly_fields(self, request: HttpRequest, obj: Comment | None = None) -> list[str]:
        return ["post", "author"] if obj else []

    @display(description="Time", ordering="created_at")
    def show_created_at(self, comment: Comment) -> SafeString | None:
        return render_time(comment.created_at)

    def create(self, actor: Actor, row: Comment, form: ServiceForm) -> Comment:
        return services.add_comment(actor=actor, post_id=str(row.post_id), body=row.body, author_id=str(row.author_id))

    def edit(self, actor: Actor, row: Comment, form: ServiceForm) -> None:
        services.edit_comment(actor=actor, comment_id=str(row.pk), body=row.body)

    def delete(self, actor: Actor, row: Comment) -> None:
        services.delete_comment(actor=actor, comment_id=str(row.pk))
