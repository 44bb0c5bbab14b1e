"""Comments in the admin site."""

from typing import Any

from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display

from blog import selectors, services
from blog.admin_filters import DayFilter
from blog.models import Comment
from contentapi.core import policy
from contentapi.core.identity import Actor
from users.admin_bases import BoundedList, ServiceAdmin, ServiceForm, render_time

MAX_SEARCHED = 5_000


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

    def get_search_results(
        self, request: HttpRequest, queryset: models.QuerySet[Comment], search_term: str
    ) -> tuple[models.QuerySet[Comment], bool]:
        """Search the newest comments that the filters leave. A search of all would read each of them."""
        if not search_term.strip():
            return queryset, False
        times = queryset.order_by("-created_at", "-pk").values_list("created_at", flat=True)
        older = times[MAX_SEARCHED : MAX_SEARCHED + 1].first()
        if older is not None:
            note = f"The search covers the newest {MAX_SEARCHED:,} comments. Filter by time to search older ones."
            self.message_user(request, note, messages.WARNING)
            queryset = queryset.filter(created_at__gt=older)
        found: models.QuerySet[Comment] = super().get_search_results(request, queryset, search_term)[0]
        return found, False

    def create(self, actor: Actor, row: Comment, form: ServiceForm) -> Comment:
        return services.add_comment(actor=actor, post_id=str(row.post_id), body=row.body, author_id=str(row.author_id))

    def edit(self, actor: Actor, row: Comment, form: ServiceForm) -> None:
        services.edit_comment(actor=actor, comment_id=str(row.pk), body=row.body)

    def delete(self, actor: Actor, row: Comment) -> None:
        services.delete_comment(actor=actor, comment_id=str(row.pk))
