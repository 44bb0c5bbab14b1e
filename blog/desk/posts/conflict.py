"""The page for an editor whose post was changed or deleted by somebody else while it was open."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from blog import selectors, states
from blog.desk.posts.history import LABELS, describe_changes, describe_person, describe_value
from blog.desk.posts.states import LABELS as ACT_LABELS
from blog.desk.posts.states import StateAdmin, StateForm
from blog.desk.posts.writing import split_lines
from blog.history import conflicts, versions
from blog.history.conflicts import EditConflict
from blog.history.merging import has_marks
from blog.history.versions import Version
from blog.models import CONTENT, CONTENT_FIELDS, Kind, Post
from contentapi.core.errors import ApiError, NotFound, VersionConflict
from users.desk.bases import get_actor

MERGED = sorted(CONTENT, key="body".__eq__)  # the fields that a person can merge by hand, the body last
NOT_SENT_AGAIN = {"csrfmiddlewaretoken", "opened_version", "_save", "_continue", "_addanother", "_act", "_merged"}


class ConflictForm(StateForm):
    """A form that refuses a merged text in which a conflict is not decided."""

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        if "_merged" in self.data and has_marks(cleaned.get("body", "")):
            problem = (
                "The text still has marks of a conflict (<<<<<<< and >>>>>>>). Delete them, or save again as it is."
            )
            self.add_error("body", ValidationError(problem))
        return cleaned


class ConflictAdmin(StateAdmin):
    """The admin of posts. A save of a form that is older than the post leads to the page of the conflict."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.take_over)
        return [path("<str:object_id>/take-over/", view, name="blog_post_take_over"), *super().get_urls()]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        request.saved_form = form  # type: ignore[attr-defined]  # for the page of a conflict
        super().save_model(request, obj, form, change)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except (Http404, NotFound):
            if object_id is None or request.method != "POST" or "body" not in request.POST:
                raise
            return self.show_deletion(request, object_id)

    def show_refusal(
        self,
        request: HttpRequest,
        error: ApiError,
        object_id: str | None,
        form_url: str,
        extra_context: dict[str, Any] | None,
    ) -> Any:
        if object_id is not None and isinstance(error, VersionConflict):
            return self.show_conflict(request, request.saved_form)  # type: ignore[attr-defined]
        return super().show_refusal(request, error, object_id, form_url, extra_context)

    def show_conflict(self, request: HttpRequest, form: StateForm) -> HttpResponse:
        """Show who changed what, both texts, the difference, and what the person can do."""
        actor = get_actor(request)
        post_id, opened = form.instance.pk, form.cleaned_data["opened_version"]
        conflict = conflicts.read_conflict(actor=actor, post_id=str(post_id), opened=opened)
        mine, other = form.cleaned_data, conflict.present
        name = other.made.person or other.made.origin or "somebody else"
        merged = conflicts.merge_post(conflict, mine, their_name=name)
        merge_form = type(form)(instance=Post(pk=post_id), initial=merged.values)
        context = {
            "title": f"“{other.values['title']}” has changed since you opened it",
            "post_id": post_id,
            "conflict": conflict,
            "other_name": name,
            "newer": [
                (version, describe_person(version.made), describe_changes(version)) for version in conflict.newer
            ],
            "fields": list(list_fields(conflict, mine)),
            "my_difference": conflicts.compare_bodies(conflict, mine["body"]),
            "my_body": mine["body"],
            "merged": merged,
            "merge_fields": [merge_form[name] for name in MERGED],
            "sent": list_sent(request, set()),
            "sent_beside_merged": list_sent(request, set(MERGED)),
            "button": self.read_button(request, form, other),
            "media": merge_form.media,
        }
        return self.render_conflict(request, "conflict", context, VersionConflict.status)

    def read_button(self, request: HttpRequest, form: StateForm, other: Version) -> Mapping[str, str]:
        """Return the button that the person pressed, if the present state still allows its act; else “Save”."""
        actor = get_actor(request)
        post = selectors.find_post(actor, str(form.instance.pk))
        if form.act is None or post is None or form.act not in states.list_acts(actor, post):
            return {"name": "_save", "value": "Save", "then": ""}
        return {"name": "_act", "value": form.act.value, "then": f" and {ACT_LABELS[form.act].lower()}"}

    @method_decorator(require_POST)
    def take_over(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the text of a person who takes over the other version, so that they can copy from it.

        A post that the person may not see, or that does not exist, is 404: that page shows the text too.
        """
        if selectors.find_post(get_actor(request), object_id) is None:
            return self.show_deletion(request, object_id)
        return self.render_conflict(
            request, "taken_over", {"title": "You keep the other version", "post_id": object_id}
        )

    def show_deletion(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the text that was sent for a post that does not exist any more, or that the person may not see."""
        context: dict[str, Any] = {"title": "This post does not exist any more", "post_id": object_id}
        try:
            page = versions.list_versions(actor=get_actor(request), post_id=object_id, limit=1)
        except ApiError:
            page = None
        if page and page.versions and page.versions[0].deletion:
            deletion = page.versions[0].deletion
            context |= {"deletion": deletion, "person": describe_person(deletion)}
        return self.render_conflict(request, "gone", context, NotFound.status)

    def render_conflict(
        self, request: HttpRequest, page: str, context: dict[str, Any], status: int = 200
    ) -> HttpResponse:
        sent = {"my_body": request.POST.get("body", ""), "my_values": list(list_sent_content(request))}
        options = {"opts": self.opts, **self.admin_site.each_context(request)}
        template = f"admin/blog/post/{page}.html"
        return TemplateResponse(request, template, options | sent | context, status=status)


def list_sent_content(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Yield the label and the value of each field of the content but the body, as the browser sent them."""
    for name, kind, label, *_ in CONTENT_FIELDS:
        sent = request.POST.getlist(name)
        if kind == Kind.WORDS:
            sent = [word for text in sent for word in split_lines(text)]
        if kind != Kind.MARKDOWN and (sent or kind == Kind.LINE):
            yield label.capitalize(), ", ".join(sent)


def list_sent(request: HttpRequest, left_out: set[str]) -> list[tuple[str, str]]:
    """Return the values of the form as the browser sent them, to send them again."""
    names = [name for name in request.POST if name not in NOT_SENT_AGAIN | left_out]
    return [(name, str(value)) for name in names for value in request.POST.getlist(name)]


def list_fields(conflict: EditConflict, mine: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield the fields except the body that differ: label, value as opened, value of the others, my value.

    My value of a field that the form does not have is the opened one.
    """
    theirs = conflict.present.values
    opened = conflict.opened.values if conflict.opened else theirs
    for name in (*MERGED[:-1], "status", "publish_at", "published_at"):
        my_value = mine.get(name, opened[name])
        if not opened[name] == theirs[name] == my_value:
            yield LABELS[name], *map(describe_value, (opened[name], theirs[name], my_value))
    for change in conflict.changes:
        if change.name == "author":
            yield LABELS["author"], change.old, change.new, change.old
