"""Posts in the admin site, with a module for each page. The forms read what a browser sends; the services write."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django.contrib import admin, messages
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.html import format_html

from blog import policy, selectors, services
from blog.desk import authors, queries
from blog.desk.comments import build_newest_comments
from blog.desk.filters import DayFilter, PublicationDayFilter, ScheduleDayFilter, StatusFilter, TagFilter, WriterFilter
from blog.desk.local_times import LocalTimeField
from blog.desk.posts import conflict, history, links, reading, saving, states, trash, writing
from blog.desk.posts import list as post_list
from blog.desk.posts.form import LINES, OPENED, OWN, WORDS, PostForm, read_action
from blog.history.trash import select_restorable_posts
from blog.models import OPTIONAL, Author, Comment, Post, PostVersion
from blog.services import presence
from contentapi.auth.sessions import get_actor
from contentapi.conf.timeouts import RESTORABLE_FOR
from contentapi.core.errors import NotFound
from contentapi.core.identity import Actor
from contentapi.desk.actions import Action
from contentapi.desk.bases import Page, PolicyAdmin
from contentapi.desk.pages import restrict_admin_page
from contentapi.desk.rendering import build_column, build_time_column

PAGES = [
    Page("<str:object_id>/events/", "events", history.show_events),
    Page("<str:object_id>/autosave/", "autosave", saving.save_text),
    Page("<str:object_id>/changes/", "changes", history.show_changes, "../change/"),
    Page("<str:object_id>/history/changes/<int:number>/", "copy", history.show_copy),
    Page("<str:object_id>/history/changes/<int:number>/restore/", "restore_copy", history.restore_changes, "../../../"),
    Page("<str:object_id>/take-over/", "take_over", conflict.take_over),
    Page("<str:object_id>/history/", "history", history.show_history),
    Page("<str:object_id>/history/<int:number>/", "version", history.show_version),
    Page("<str:object_id>/history/<int:number>/restore/", "restore_version", history.restore_text, "../../"),
    Page("<str:object_id>/preview-links/open/", "open_preview", links.open_preview, "../../change/#preview-links"),
    Page("<str:object_id>/preview-links/create/", "create_preview_link", links.create_link),
    Page(
        "<str:object_id>/preview-links/<str:link_id>/revoke/",
        "revoke_preview_link",
        links.revoke_link,
        "../../../change/#preview-links",
    ),
    Page("<str:object_id>/presence/", "presence", writing.announce_page),
    Page("deleted/", "deleted", trash.show_deleted_posts),
    Page("deleted/restore/", "restore_selected", trash.restore_posts),
    Page("deleted/<str:object_id>/restore/", "restore_deleted", trash.restore_posts),
    Page("preview/", "preview", writing.show_preview),
    Page("tags/", "tags", writing.list_tags),
    Page("session/", "session", writing.show_session),
]


@admin.register(Post)
class PostAdmin(PolicyAdmin):
    desk_actions = [*states.STATE_ACTIONS, states.DELETION]
    has_action_buttons = False  # the buttons of the form also save it
    pages = PAGES
    list_class = post_list.PostList
    list_deferred = ["body", "body_html"]
    form = PostForm
    change_form_before_template = "blog/post_top.html"
    change_form_after_template = "blog/post_state.html"
    change_form_outer_after_template = "blog/beside_post.html"  # outside of the form: its buttons do not save it
    deletion_note = (
        f"For {RESTORABLE_FOR.days} days you can restore it with its comments: “Deleted posts” above the list of "
        "posts. Then it is gone for good."
    )
    list_before_template = "blog/post_tabs.html"
    list_display = ["title", "show_status", "author", "show_tags", "show_published_at", "show_updated_at"]
    list_filter = [
        ("status", StatusFilter),
        ("author", WriterFilter),
        TagFilter,
        ("publish_at", ScheduleDayFilter),
        ("published_at", PublicationDayFilter),
        ("created_at", DayFilter),
    ]
    list_lookups = frozenset({
        "status__exact", "author__id__exact", "tag", "publish_at_from", "publish_at_to", "published_at_from",
        "published_at_to", "created_at_from", "created_at_to",
    })  # fmt: skip
    list_select_related = ["author"]
    sortable_by = ["show_publish_at", "show_published_at", "show_updated_at"]
    search_fields = ["title"]  # shows the search box
    search_rows = staticmethod(post_list.search_posts)
    ordering = ["-created_at", "-id"]
    autocomplete_fields = ["author"]

    class Media:
        css = {"all": ["blog/post.css"]}

    may_open = may_add = staticmethod(policy.may_write_posts)
    select_rows = staticmethod(selectors.posts.select_written_posts)
    find_row = staticmethod(selectors.posts.find_post)

    def may_see(self, actor: Actor, row: Post) -> bool:
        writers = [row.author, *Author.objects.in_order_of(row.coauthor_ids)]
        return policy.may_see_post(actor, [writer.user_id for writer in writers], row.status)

    def may_change(self, actor: Actor, row: Post | None) -> bool:
        return policy.may_write_posts(actor) if row is None else policy.may_write_posts_of(actor, row.author.user_id)

    may_delete = may_change

    # The list

    def get_list_display(self, request: HttpRequest) -> list[str]:
        return post_list.choose_columns(request, self.list_display)

    def get_ordering(self, request: HttpRequest) -> list[str]:
        return ["publish_at", "id"] if post_list.lists_scheduled(request) else list(self.ordering)

    def list_actions(self, request: HttpRequest) -> list[Action]:
        return self.desk_actions

    def select_for_action(self, request: HttpRequest, action: Action) -> models.QuerySet[Any]:
        if action is trash.RESTORE:
            return select_restorable_posts(get_actor(request))
        return self.select_rows(get_actor(request)).select_related("author").defer("body", "body_html")

    def describe_row(self, row: Post | PostVersion) -> str:
        return states.describe_state(row) if isinstance(row, Post) else trash.describe_deleted(row)

    def describe_outcome(self, action: Any, rows: Sequence[Post]) -> str:
        if action is trash.RESTORE and len(rows) == 1:
            return format_html("“{}” is restored.", states.link_post(rows[0]))
        return states.describe_outcome(action, rows)

    def build_list(self, request: HttpRequest, extra_context: dict[str, Any] | None) -> Any:
        may_import = policy.may_import_posts(get_actor(request))
        return super().build_list(request, {"may_import": may_import, **(extra_context or {})})

    def count_dependents(self, rows: list[Any]) -> dict[str, int]:
        comments = Comment.objects.filter(post__in=rows)
        return {"comments": selectors.comments.filter_comments_by_state(comments, "").count()}

    show_status = build_column("Status", post_list.render_status, label=states.STATUS_COLORS)
    show_site = build_column("Site", states.link_site)
    show_tags = build_column("Tags", lambda post: ", ".join(post.tags))
    show_publish_at = build_column("Publish at", post_list.render_publication, ordering="publish_at")
    show_published_at = build_time_column("published_at", "Published at", ordering="publication_order")
    show_updated_at = build_time_column("updated_at", "Updated at", ordering="updated_at")
    show_coauthors = build_column("Co-authors", lambda post: ", ".join(queries.name_authors(post.coauthor_ids)))
    show_text = build_column("Text", reading.render_text)
    show_cover = build_column("Cover", reading.render_cover)
    show_source = build_column("File", reading.render_source)

    # The form

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *others: Any) -> Any:
        """Return the page of the form. The frame of its preview has the policy of the page, and loads images."""
        is_save = request.method == "POST" and object_id is not None
        try:
            response = saving.save_form(request, self, str(object_id)) if is_save else None
            response = response or super().changeform_view(request, object_id, *others)
        except (Http404, NotFound):
            if not is_save or "body" not in request.POST:
                raise
            response = conflict.show_deletion(request, self, str(object_id))
        return restrict_admin_page(response, images="http: https:")

    def build_form_context(self, request: HttpRequest, row: Post | None) -> dict[str, Any]:
        """Return what the form of a post, or of a new one, shows beside its fields."""
        actor = get_actor(request)
        may_change = self.may_change(actor, row)
        context: dict[str, Any] = {"state": states.describe_state(row), "site_link": states.link_site(row)}
        if may_change:
            context["state_buttons"] = states.list_state_buttons(actor, row)
        if row is None:
            return context
        context["show_delete"] = False  # the link is not among the buttons that save (blog/post_state.html)
        context |= build_newest_comments(actor, row)
        context["show_history"] = policy.may_see_history_of(actor, row.author.user_id)
        if may_change:
            people = presence.list_people(actor, row.pk)
            context["presence"] = {"people": people, "page": uuid4(), "post_id": row.pk}
            context |= links.build_preview_links(actor, row)
            context |= history.build_copy_state(actor, row, services.working_copies.find_visible_copy(actor, row))
        return context

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Preset the author of a new post: the user's own profile, if there is one."""
        author = queries.find_own_author(get_actor(request))
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        return initial if author is None else {"author": str(author.pk), **initial}

    def get_form(self, request: HttpRequest, obj: Post | None = None, change: bool = False, **options: Any) -> Any:
        """Return the form; it shows the text of the working copy, if the person may change the post."""
        authors.create_chosen_profiles(request)
        if obj is not None and not self.may_change(get_actor(request), obj):
            options["form"] = reading.ReadingForm
        form: Any = super().get_form(request, obj, change=change, **options)
        form.copy = services.working_copies.find_visible_copy(get_actor(request), obj)
        return form

    def get_fieldsets(self, request: HttpRequest, obj: Post | None = None) -> Any:
        """Return the fields above the panel, those in it, and of an imported post its file."""
        actor = get_actor(request)
        if obj is not None and not self.may_change(actor, obj):
            return reading.FIELDSETS
        authors, times = ["author", "coauthor_ids"], []
        if not policy.may_manage_posts_and_authors(actor):
            authors = ["author", "show_coauthors"] if obj else []
        if obj is not None:
            is_editable = obj.published_at is not None and policy.may_manage_publication(actor)
            times = ["published_at" if is_editable else "show_published_at", "show_created_at", "show_updated_at"]
        panels = {None: [*LINES, "body", *authors, *WORDS, *OWN, *times, *OPENED], reading.PANEL: OPTIONAL}
        if hasattr(obj, "source"):
            panels["Post source"] = ["show_source"]
        return [(title, {"fields": names}) for title, names in panels.items()]

    def get_readonly_fields(self, request: HttpRequest, obj: Post | None = None) -> list[str]:
        """Return the fields that the user sees only, and the authors, if the user may not set them."""
        names = [name for _, panel in self.get_fieldsets(request, obj) for name in panel["fields"]]
        authors = [] if policy.may_manage_posts_and_authors(get_actor(request)) else ["author", "coauthor_ids"]
        return [*authors, *(name for name in names if name.startswith("show_"))]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name == "published_at":
            return LocalTimeField(label="Published at", help_text=db_field.help_text)
        return authors.offer_accounts(super().formfield_for_dbfield(db_field, request, **options))

    create = staticmethod(saving.create_post)
    delete = staticmethod(lambda actor, row: services.delete_post(actor=actor, post_id=str(row.pk)))

    def response_add(self, request: HttpRequest, obj: Post, post_url_continue: str | None = None) -> HttpResponse:
        action = read_action(request.POST)
        if action is None:
            response = super().response_add(request, obj, post_url_continue)
        else:
            self.message_user(request, states.describe_result(action, obj), messages.SUCCESS)
            response = self.response_post_save_add(request, obj)
        return writing.name_saved_text(request, response)
