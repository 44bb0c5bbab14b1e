"""The panel "Address and search engines" of the form of a post, with a preview of the search result."""

from collections.abc import Iterable
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextInputWidget

from blog import services
from blog.models import CONTENT_FIELDS, MAX_ALT, MAX_DESCRIPTION, MAX_EXCERPT, MAX_SLUG, MAX_URL, OPTIONAL, SUMMARIES
from contentapi.conf import conf
from contentapi.desk.rendering import Textarea
from contentapi.desk.service_admin import ServiceForm

PANEL = "Address and search engines"
FIELDS = {field.name: field for field in CONTENT_FIELDS if field.name in OPTIONAL}


class SlugInput(UnfoldAdminTextInputWidget):
    """A slug, and below it what a search engine shows of the post."""

    template_name = "blog/widgets/slug.html"

    class Media:
        css = {"all": ["blog/address.css"]}
        js = [forms.Script("blog/address.js", type="module")]

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        return context | {"post_url": conf.environment.contentapi_site_post_url or "https://…/{slug}"}


class CoverInput(UnfoldAdminTextInputWidget):
    """The id of an image. A script shows the image, and chooses or uploads another one."""

    template_name = "blog/widgets/cover.html"

    class Media:
        css = {"all": ["blog/images.css"]}
        js = [forms.Script(f"blog/{name}.js", type="module") for name in ("images", "image_choice", "cover")]


class SummaryInput(Textarea):
    """A summary, which is stored as it was typed, and what the post shows without one."""

    def __init__(self, longest: int) -> None:
        super().__init__(attrs={"rows": 2, "class": "grows", "maxlength": longest})


class AddressForm(ServiceForm):
    """The addresses and the summaries of a post. An empty one is null: it is then made from the title or the text."""

    slug = forms.CharField(
        widget=SlugInput,
        max_length=MAX_SLUG,
        required=False,
        empty_value=None,
        help_text="The name of the post in its address: a-z, 0-9 and hyphens. If you leave it empty, it is made from "
        "the title. An old slug of a public post keeps leading to it.",
    )
    canonical_url = forms.CharField(
        widget=UnfoldAdminTextInputWidget,
        label="Canonical URL",
        max_length=MAX_URL,
        required=False,
        empty_value=None,
        help_text="Where the original of this text is, if this is a copy.",
    )
    excerpt = forms.CharField(
        widget=SummaryInput(MAX_EXCERPT),
        required=False,
        strip=False,
        empty_value=None,
        help_text="A short text for lists. If you leave it empty, the first sentences of the text are shown.",
    )
    description = forms.CharField(
        widget=SummaryInput(MAX_DESCRIPTION),
        required=False,
        strip=False,
        empty_value=None,
        help_text="A text for search engines and cards. If you leave it empty, the excerpt is shown.",
    )

    cover_id = forms.IntegerField(
        widget=CoverInput,
        label="Cover",
        required=False,
        min_value=1,
        help_text="An image for lists and cards.",
    )
    cover_alt = forms.CharField(
        widget=UnfoldAdminTextInputWidget,
        label="Text of the cover",
        max_length=MAX_ALT,
        required=False,
        empty_value=None,
        help_text="What the cover shows. If you leave it empty, it is the text of the image.",
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in SUMMARIES:
            if name in self.fields:
                self.fields[name].widget.attrs["placeholder"] = getattr(self.instance, f"default_{name}") or ""

    def clean_slug(self) -> str | None:
        return self.clean_address("slug")

    def clean_canonical_url(self) -> str | None:
        return self.clean_address("canonical_url")

    def clean_excerpt(self) -> str | None:
        return self.clean_summary("excerpt")

    def clean_description(self) -> str | None:
        return self.clean_summary("description")

    def clean_summary(self, name: str) -> str | None:
        """Undo what browsers do to line ends."""
        stored, sent = self.initial.get(name) or "", str(self.cleaned_data[name] or "").replace("\r\n", "\n")
        return self.require_valid(name, (stored if stored.replace("\r\n", "\n") == sent else sent) or None)

    def clean_address(self, name: str) -> str | None:
        return self.require_valid(name, self.cleaned_data[name])

    def require_valid(self, name: str, value: str | None) -> str | None:
        problems = services.list_problems(FIELDS[name], value) if name in self.changed_data else []
        if problems:
            raise forms.ValidationError(problems)
        return value


def group_fields(names: Iterable[str]) -> list[tuple[str | None, dict[str, Any]]]:
    """Return the groups of the fields of the form: those above the panel, and those in it.

    The time of the button "Schedule" is in neither: it is beside the button.
    """
    names = list(names)
    return [
        (None, {"fields": [name for name in names if name not in (*OPTIONAL, "schedule_at")]}),
        (PANEL, {"fields": [name for name in OPTIONAL if name in names]}),
    ]
