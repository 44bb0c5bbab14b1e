"""The form of a post in the admin site as a place to write: editor, preview, suggestions of tags, and kept texts.

The scripts are in `static/blog/`. Without them the fields are those of a plain form.
"""

import re
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.postgres.forms import SimpleArrayField
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from blog import policy, selectors, services
from blog.desk import queries
from blog.desk.images.choice import describe_tools
from blog.models import CONTENT, CONTENT_FIELDS, MAX_BODY, MAX_TAG, MAX_TAGS, MAX_TITLE, Author, Kind, Post
from contentapi.core.errors import ApiError, Invalid, require_found
from contentapi.core.identity import Actor
from contentapi.core.policy import require_permission
from contentapi.core.text import require_storable
from contentapi.desk.bases import PolicyAdmin, get_actor
from contentapi.desk.rendering import Textarea, describe_error
from contentapi.desk.service_admin import ServiceForm

SAVED_TEXT_COOKIE = "saved_text"  # names the kept text that the browser can remove
KEPT_TEXT_ID = re.compile(r"kept-text:[0-9]+:(?:new|[0-9]+):[0-9a-f-]{36}")
# `![Uploading boat.jpg, 1](image:0)`: the mark of an upload that has not ended, with the lines before it
MARK = re.compile(r"\n{0,2}!\[Uploading [^]\n]*, [0-9]+\]\(image:0\)")
LINE_END = re.compile(r"\r\n|\r|\n")
VENDOR = "blog/vendor"
SCRIPTS = ("editor", "preview", "following", "saving", "autosave", "images", "image_choice", "image_writing")
THEMES = ("light", "dark")
TAGS = next(field for field in CONTENT_FIELDS if field.name == "tags")
LINES_BELOW_THE_TITLE = [field.name for field in CONTENT_FIELDS if field.kind == Kind.LINE and field.name != "title"]


class TitleInput(Textarea):
    """A title of one line, which is shown in as many lines as it needs."""

    def __init__(self) -> None:
        super().__init__(attrs={"rows": 1, "class": "grows"})


class MarkdownInput(Textarea):
    """A plain text with a toolbar, a number of words and a preview."""

    template_name = "blog/widgets/markdown.html"

    class Media:
        css = {"all": ["blog/writing.css", "blog/images.css"]}
        js = [
            forms.Script(f"{VENDOR}/markdown-toolbar-element/markdown-toolbar-element.js", type="module"),
            *(forms.Script(f"blog/{name}.js", type="module") for name in SCRIPTS),
        ]

    def __init__(self) -> None:
        super().__init__(attrs={"rows": 16, "class": "grows", "data-writing": True, "data-max-length": MAX_BODY})

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        addresses = {each: reverse(f"admin:blog_post_{each}") for each in ("preview", "session")}
        login = f"{reverse('admin:login')}?next={reverse('admin:index')}"
        context: dict[str, Any] = super().get_context(name, value, attrs)
        return context | {"addresses": {**addresses, "login": login}, "tools": describe_tools()}


class TagsInput(Textarea):
    """Tags, one on each line. A script turns the field into a list with suggestions."""

    class Media:
        css = {"all": [f"{VENDOR}/tom-select/tom-select.min.css", "blog/writing.css"]}
        js = [f"{VENDOR}/tom-select/tom-select.popular.min.js", forms.Script("blog/tags.js", type="module")]

    def __init__(self) -> None:
        super().__init__(attrs={"rows": 4, "placeholder": "One tag on each line"})

    def build_attrs(self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None) -> dict[str, Any]:
        limits = {"data-max-tags": MAX_TAGS, "data-max-length": MAX_TAG}
        suggestions = {"data-suggestions": reverse("admin:blog_post_tags")}
        attributes: dict[str, Any] = super().build_attrs({**base_attrs, **limits, **suggestions}, extra_attrs)
        return attributes


class LinesField(SimpleArrayField):
    """A list of texts, one on each line. Empty lines are ignored."""

    widget = TagsInput

    def __init__(self, base_field: forms.Field, **options: Any) -> None:
        super().__init__(base_field, delimiter="\n", **options)

    def to_python(self, value: Any) -> Any:
        return super().to_python(split_lines(value) if isinstance(value, str) else value)


def split_lines(text: str) -> list[str]:
    """Return the lines that are not empty, without spaces at their ends.

    Only a line end of a form separates lines. `str.splitlines` also splits at characters that a tag may contain.
    """
    return [line.strip() for line in LINE_END.split(text) if line.strip()]


class WritingForm(ServiceForm):
    """The text of a post. It is stored as it was typed."""

    title = forms.CharField(widget=TitleInput, max_length=MAX_TITLE)
    body = forms.CharField(
        widget=MarkdownInput,
        label="Text",
        strip=False,
        required=False,
        help_text=f"Markdown. At most {MAX_BODY:,} characters.",
    )
    tags = LinesField(
        forms.CharField(max_length=MAX_TAG),
        max_length=MAX_TAGS,
        required=False,
        help_text=f"At most {MAX_TAGS}. Press Enter or type a comma after each tag.",
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        attributes = {"data-post": self.instance.pk or "new", "data-version": self.instance.version}
        attributes["data-fields"] = " ".join([*CONTENT, "author"])  # the values that the scripts keep and preview
        if self.is_bound:
            attributes["data-unsaved"] = True  # the page of a form that was refused shows text that is not stored
        if "body" in self.fields:
            self.fields["body"].widget.attrs.update(attributes)

    def clean_title(self) -> str:
        """Join the lines of a title that was pasted: a browser without the script sends the line ends."""
        stored, sent = self.initial.get("title", ""), str(self.cleaned_data["title"]).replace("\r\n", "\n")
        return stored if stored.replace("\r\n", "\n") == sent else " ".join(sent.split("\n"))

    def clean_tags(self) -> list[str]:
        """Keep stored tags that contain line ends, which the field shows as several lines, if nobody changed them."""
        stored: list[str] = self.initial.get("tags") or []
        sent: list[str] = self.cleaned_data["tags"]
        if split_lines("\n".join(stored)) == sent:
            return stored
        problems = services.list_problems(TAGS, sent)
        if problems:  # the constraint of the model would speak of no field
            raise forms.ValidationError(problems)
        return sent

    def clean_body(self) -> str:
        """Undo what browsers do to line ends: they send CR LF for every line end. Leave out marks of uploads."""
        stored, sent = self.initial.get("body", ""), MARK.sub("", str(self.cleaned_data["body"]).replace("\r\n", "\n"))
        return stored if stored.replace("\r\n", "\n") == sent else sent


@require_POST
def show_preview(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Return the post as readers see it, as a document in JSON: a page could not be opened by mistake."""
    actor = get_actor(request)
    require_permission(actor, policy.may_write_posts(actor), "write posts")
    try:
        context = build_preview(actor, request.POST.dict())
    except ApiError as error:
        return JsonResponse({"problem": describe_error(error)}, status=error.status)
    theme = request.POST.get("theme")
    context["theme"] = theme if theme in THEMES else THEMES[0]
    context["stylesheet"] = request.build_absolute_uri(static("blog/reading.css"))
    return JsonResponse({"document": render_to_string("blog/preview.html", context)})


@require_GET
def list_tags(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Return the suggestions for the beginning of a tag."""
    actor = get_actor(request)
    require_permission(actor, policy.may_write_posts(actor), "write posts")
    return JsonResponse({"tags": queries.suggest_tags(actor, request.GET.get("q", ""))})


@never_cache
@require_GET
def show_session(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Return who is logged in, and a CSRF token. A login in another tab has made the token of the form useless."""
    return JsonResponse({"user": str(request.user.pk), "token": get_token(request)})


def name_saved_text(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Add a cookie that names the text that the browser has kept and that is stored now. A script removes both."""
    kept = request.POST.get("kept_text", "")
    if KEPT_TEXT_ID.fullmatch(kept):
        response.set_cookie(
            SAVED_TEXT_COOKIE,
            kept,
            max_age=3600,
            path=reverse("admin:index"),
            secure=bool(settings.SESSION_COOKIE_SECURE),
            samesite="Lax",
        )
    return response


def build_preview(actor: Actor, values: dict[str, str]) -> dict[str, Any]:
    """Return what readers see of a form with these values. Raises `Invalid` and `NotFound`."""
    require_storable(values)
    body = values.get("body", "").replace("\r\n", "\n")
    if len(body) > MAX_BODY:
        raise Invalid({"body": [f"At most {MAX_BODY:,} characters are allowed (got {len(body):,})."]})
    post_id = values.get("post", "new")
    post = None if post_id == "new" else require_found(selectors.find_post(actor, post_id), "post")
    return {
        "title": values.get("title", "").strip(),
        "lines": [values.get(name, "").strip() for name in LINES_BELOW_THE_TITLE],
        "author": find_author_of_preview(actor, post, values.get("author", "")),
        "tags": split_lines(values.get("tags", "")),
        "post": post,
        "html": services.render_body(body, with_lines=True),
    }


def find_author_of_preview(actor: Actor, post: Post | None, author_id: str) -> Author | None:
    """Return the author of the post, or the one that was chosen for a new post; by default the actor's profile."""
    if post is not None:
        return post.author
    if author_id and policy.may_manage_posts_and_authors(actor):
        return selectors.find_author(actor, author_id)
    return queries.find_own_author(actor)
