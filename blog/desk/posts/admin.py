"""Posts in the admin site. The forms read what a browser sends; the services decide and write."""

from typing import Any, ClassVar, NamedTuple

from django import forms
from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import StackedInline
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from blog import selectors, services
from blog.desk import queries
from blog.desk.comments import CommentedAdmin
from blog.desk.filters import DayFilter, PublicationDayFilter, ScheduleDayFilter, TagFilter
from blog.desk.posts.bulk import BulkAdmin
from blog.desk.posts.conflict import ConflictForm
from blog.desk.posts.presence import PresenceAdmin
from blog.desk.posts.writing import WritingAdmin, WritingForm
from blog.files.syntax import decode_value, dump_front_matter
from blog.history.versions import RESTORABLE_FOR
from blog.models import CONTENT, CONTENT_FIELDS, Kind, Post, PostSource, PostStatus
from blog.search.query import MAX_MATCHES
from blog.selectors import PostCriteria
from contentapi.core import policy
from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from users.desk.bases import get_actor
from users.desk.lists import ORDER, BoundedList, RelatedFilter
from users.desk.rendering import render_time

STATUS = "status__exact"  # the parameter of the filter by status
LINES = [field.name for field in CONTENT_FIELDS if field.kind == Kind.LINE]
WORDS = [field.name for field in CONTENT_FIELDS if field.kind == Kind.WORDS]
TABS = {"Drafts": "draft", "Scheduled": "scheduled", "Published": "published", "All": ""}


class PostForm(WritingForm, ConflictForm):
    """The form of a post: its text, its state, and the version that it was opened with."""

    class Meta:
        model = Post
        fields = [*LINES, "body", "author", *WORDS, "published_at"]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if "author" in self.fields:
            # A user without a profile has nobody to choose: the service creates the profile.
            self.fields["author"].required = False
            self.fields["author"].help_text = "Leave this empty to write as yourself."


class Tab(NamedTuple):
    """A link to the posts of one status, or to all. It keeps the other filters and the search."""

    label: str
    address: str
    is_current: bool


class LightPostList(BoundedList):
    """A list of posts without their bodies, which no column shows."""

    @property
    def tabs(self) -> list[Tab]:
        """Return the tabs. Each list begins with its first page, in its own order."""
        chosen = self.params.get(STATUS, "")
        return [
            Tab(label, self.get_query_string({STATUS: status or None, ORDER: None}), chosen == status)
            for label, status in TABS.items()
        ]

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        return super().get_queryset(request, exclude_parameters).defer("body")


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


@admin.register(Post)
class PostAdmin(WritingAdmin, CommentedAdmin, BulkAdmin, PresenceAdmin):
    form = PostForm
    deletion_note = (
        f"For {RESTORABLE_FOR.days} days you can restore it with its comments: “Deleted posts” above the list of "
        "posts. Then it is gone for good."
    )
    inlines = [SourceInline]
    list_before_template = "blog/post_tabs.html"
    list_display = ["title", "show_status", "author", "show_tags", "show_published_at", "show_updated_at"]
    list_filter = [
        ("status", ChoicesDropdownFilter),
        ("author", RelatedFilter),
        TagFilter,
        ("publish_at", ScheduleDayFilter),
        ("published_at", PublicationDayFilter),
        ("created_at", DayFilter),
    ]
    list_lookups = frozenset({
        "status__exact", "author__id__exact", "tag", "publish_at_from", "publish_at_to", "published_at_from",
        "published_at_to", "created_at_from", "created_at_to",
    })  # fmt: skip
    list_filter_submit = True
    list_select_related = ["author"]
    sortable_by = ["show_publish_at", "show_published_at", "show_updated_at"]
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

    def get_list_display(self, request: HttpRequest) -> list[str]:
        """Show when scheduled posts will be published: in a list of them instead of the status, else beside it."""
        columns = list(self.list_display)
        if lists_scheduled(request):
            columns[columns.index("show_status")] = "show_publish_at"
        return columns

    def get_ordering(self, request: HttpRequest) -> list[str]:
        return ["publish_at", "id"] if lists_scheduled(request) else list(self.ordering)

    def get_inlines(self, request: HttpRequest, obj: Post | None) -> list[Any]:
        """Leave out the source of a post that was not imported."""
        return list(self.inlines) if obj and hasattr(obj, "source") else []

    def build_list(self, request: HttpRequest, extra_context: dict[str, Any] | None) -> Any:
        may_import = policy.may_import_posts(get_actor(request))
        return super().build_list(request, {"may_import": may_import, **(extra_context or {})})

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        """Leave out the filter by author for actors who have posts of one author only."""
        everybodys = policy.may_manage_posts_and_authors(get_actor(request))
        return [each for each in self.list_filter if everybodys or each != ("author", RelatedFilter)]

    def get_exclude(self, request: HttpRequest, obj: Post | None = None) -> list[str]:
        """Leave out the author of a new post for actors who write as themselves only, and a time that is read only."""
        hidden = [] if self.may_edit_publication_time(request, obj) else ["published_at"]
        return hidden if obj or policy.may_manage_posts_and_authors(get_actor(request)) else [*hidden, "author"]

    def get_readonly_fields(self, request: HttpRequest, obj: Post | None = None) -> list[str]:
        if obj is None:
            return []
        shown = [] if self.may_edit_publication_time(request, obj) else ["show_published_at"]
        return ["author", *shown, "show_created_at", "show_updated_at"]

    @display(
        description="Status",
        label={
            PostStatus.DRAFT.value: "warning",
            PostStatus.SCHEDULED.value: "info",
            PostStatus.PUBLISHED.value: "success",
            PostStatus.ARCHIVED.value: "default",
        },
    )
    def show_status(self, post: Post) -> str | tuple[str, SafeString]:
        if post.status == PostStatus.SCHEDULED:
            return post.status, format_html("scheduled for {}", render_time(post.publish_at))
        return str(post.status)

    @display(description="Tags")
    def show_tags(self, post: Post) -> str:
        return ", ".join(post.tags)

    @display(description="Publish at", ordering="publish_at")
    def show_publish_at(self, post: Post) -> SafeString | None:
        return render_time(post.publish_at)

    @display(description="Published at", ordering="publication_order")
    def show_published_at(self, post: Post) -> SafeString | None:
        return render_time(post.published_at)

    @display(description="Updated at", ordering="updated_at")
    def show_updated_at(self, post: Post) -> SafeString | None:
        return render_time(post.updated_at)

    @display(description="Created at", ordering="created_at")
    def show_created_at(self, post: Post) -> SafeString | None:
        return render_time(post.created_at)

    def count_dependents(self, rows: list[Any]) -> dict[str, int]:
        return {"comments": queries.count_comments(rows)}

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
        # The ids, at most `MAX_MATCHES`: the list would repeat a subquery to count and to find a page.
        ids = list(found.order_by().values_list("pk", flat=True))
        if len(ids) == MAX_MATCHES:
            request.search_limit = MAX_MATCHES  # type: ignore[attr-defined]  # for the list, which says so
        return queryset.filter(pk__in=ids), False

    def create(self, actor: Actor, row: Post, form: PostForm) -> Post:
        values = {name: form.cleaned_data[name] for name in CONTENT}
        post = self.create_post(actor, form, str(row.author_id) if row.author_id else None, values)
        row.author_id = post.author_id  # the form of an author has no author
        return post

    def delete(self, actor: Actor, row: Post) -> None:
        services.delete_post(actor=actor, post_id=str(row.pk))


def lists_scheduled(request: HttpRequest) -> bool:
    """Whether the list has scheduled posts only: each has a time of publication, which an index orders."""
    return request.GET.get(STATUS) == PostStatus.SCHEDULED
