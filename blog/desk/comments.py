"""Comments in the admin site: the list, the page of a comment, and the newest comments beside the form of a post."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from blog import policy, selectors, services
from blog.desk import authors, queries
from blog.desk.filters import AuthorFilter, DayFilter
from blog.models import Comment, CommentState, Post
from blog.services import moderation
from contentapi.conf.timeouts import RESTORABLE_FOR
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.desk.actions import Action, list_offered_actions
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.forms import ServiceForm
from contentapi.desk.lists import RelatedFilter, build_state_filter
from contentapi.desk.rendering import build_column, build_time_column, describe_origin

STATES = {"visible": "success", "hidden": "warning", "deleted": "danger"}


def build_action(name: str, done: str, effect: str, **options: Any) -> Action:
    return Action(
        name=name,
        label=name.capitalize(),
        done=done,
        help=effect,
        perform=lambda actor, comment, _: moderation.moderate_comment(name, actor=actor, comment_id=str(comment.pk)),
        is_permitted=lambda actor, comment: moderation.may_act(actor, comment, name),
        is_offered=lambda comment: not moderation.find_obstacle(comment, name),
        **options,
    )


NEWEST = 10  # comments of a post, beside its form
DELETED = f"Readers do not see the comment any more. For {RESTORABLE_FOR.days} days you can restore it."
ACTIONS = [
    build_action("hide", "Hidden", "Readers do not see the comment any more. You can show it again."),
    build_action("show", "Shown", "Readers see the comment again."),
    build_action("delete", "Deleted", DELETED, confirmed_from=1, is_dangerous=True),
    build_action("restore", "Restored", "Readers see the comment again."),
]


def describe_moderator(comment: Comment) -> str:
    """Return who changed the state, and with what: `Edda Editor, in the admin`. Empty if nobody did."""
    if comment.state_changed_at is None:
        return ""
    user_id = comment.state_changed_by
    person = getattr(comment, "state_changed_by_name", None) or (f"deleted user {user_id}" if user_id else "")
    if user_id is not None and user_id == comment.author.user_id:
        person = f"{comment.author}, who wrote it"
    return describe_origin(person, comment.state_changed_with) or "unknown"


CHOICES = [(state.value, str(state.label)) for state in CommentState]
# Without a choice the list has the visible and the hidden ones.
StateFilter = build_state_filter("status", "state", CHOICES, selectors.comments.filter_comments_by_state)


@admin.register(Comment)
class CommentAdmin(PolicyAdmin):
    """The comments that a person moderates. Their text is shown, and nobody can change it."""

    desk_actions = ACTIONS
    list_deferred = ["post__body", "post__body_html"]
    list_display = ["__str__", "show_state", "show_moderator", "author", "post", "show_created_at"]
    list_filter = [StateFilter, ("post", RelatedFilter), ("author", AuthorFilter), ("created_at", DayFilter)]
    list_lookups = frozenset({"state", "post__id__exact", "author__id__exact", "created_at_from", "created_at_to"})
    list_select_related = ["author", "post__author"]
    sortable_by = ["show_created_at"]
    search_fields = ["body"]  # shows the search box
    search_rows = staticmethod(lambda _, comments, words: queries.find_comments_with(comments, words.strip()))
    search_help_text = f"Text or author, in the newest {queries.MAX_COUNT:,}"
    ordering = ["-created_at", "-id"]
    autocomplete_fields = ["post", "author"]
    may_open = staticmethod(policy.may_moderate_comments)
    may_add = staticmethod(policy.may_manage_comments)
    select_rows = staticmethod(
        lambda actor: queries.name_moderators(selectors.comments.select_moderated_comments(actor))
    )
    find_row = staticmethod(lambda actor, pk: queries.select_shown_comments(actor).filter(pk=parse_id(pk)).first())

    def may_see(self, actor: Actor, row: Comment) -> bool:
        return policy.may_see_comment(actor, row.state, row.post.author.user_id)

    def describe_row(self, row: Comment) -> str:
        return f"By {row.author}, on “{row.post}”"

    def get_fields(self, request: HttpRequest, obj: Comment | None = None) -> list[str]:
        if obj is None:
            return ["post", "author", "body"]
        return ["body", "author", "post", "show_created_at", "show_state", "show_moderator", "show_state_changed_at"]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        authors.create_chosen_profiles(request)
        return super().get_form(request, obj, change=change, **options)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **options)
        return authors.offer_accounts(field) if db_field.name == "author" else field

    show_state = build_column("Status", lambda comment: comment.state, label=STATES)
    show_moderator = build_column("Status changed by", describe_moderator)
    show_state_changed_at = build_time_column("state_changed_at", "Status changed at")

    def create(self, actor: Actor, row: Comment, form: ServiceForm) -> Comment:
        return services.add_comment(actor=actor, post_id=str(row.post_id), body=row.body, author_id=str(row.author_id))


def build_newest_comments(actor: Actor, post: Post) -> dict[str, Any]:
    """Return the newest comments of a post that the actor may see, with their actions, their number and their list."""
    found = selectors.comments.filter_comments_by_state(queries.select_shown_comments(actor).filter(post=post), "")
    newest = queries.build_excerpt(found.order_by("-created_at", "-id"), NEWEST)
    comments = [
        (comment, describe_moderator(comment), list_offered_actions(ACTIONS, actor, comment)) for comment in newest.rows
    ]
    filters = urlencode({"post__id__exact": post.pk})
    return {
        "newest_comments": comments,
        "comment_total": newest.total,
        "max_count": queries.MAX_COUNT,
        "comments_url": f"{reverse('admin:blog_comment_changelist')}?{filters}",
        "may_list_comments": policy.may_moderate_comments_on(actor, post.author.user_id),
    }
