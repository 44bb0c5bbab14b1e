"""The panel "Address and search engines" of the form of a post, with a preview of the search result."""

from collections.abc import Iterable
from functools import partialmethod
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


def build_text(widget: Any, help_text: str, **options: Any) -> forms.CharField:
    """Return the field of a text. An empty one is null."""
    return forms.CharField(widget=widget, required=False, empty_value=None, help_text=help_text, **options)


class AddressForm(ServiceForm):
    """The addresses and the summaries of a post. An empty one is null: it is then made from the title or the text."""

    slug = build_text(
        SlugInput,
        "The name of the post in its address: a-z, 0-9 and hyphens. If you leave it empty, it is made from the title. "
        "An old slug of a public post keeps leading to it.",
        max_length=MAX_SLUG,
    )
    canonical_url = build_text(
        UnfoldAdminTextInputWidget,
        "Where the original of this text is, if this is a copy.",
        label="Canonical URL",
        max_length=MAX_URL,
    )
    excerpt = build_text(
        SummaryInput(MAX_EXCERPT),
        "A short text for lists. If you leave it empty, the first sentences of the text are shown.",
        strip=False,
    )
    description = build_text(
        SummaryInput(MAX_DESCRIPTION),
        "A text for search engines and cards. If you leave it empty, the excerpt is shown.",
        strip=False,
    )
    cover_id = forms.IntegerField(
        widget=CoverInput, label="Cover", required=False, min_value=1, help_text="An image for lists and cards."
    )
    cover_alt = build_text(
        UnfoldAdminTextInputWidget,
        "What the cover shows. If you leave it empty, it is the text of the image.",
        label="Text of the cover",
        max_length=MAX_ALT,
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in SUMMARIES:
            if name in self.fields:
                self.fields[name].widget.attrs["placeholder"] = getattr(self.instance, f"default_{name}") or ""

    def clean_text(self, name: str) -> str | None:
        """Undo what browsers do to line ends, and say what is wrong with a text that was changed."""
        stored, sent = self.initial.get(name) or "", str(self.cleaned_data[name] or "").replace("\r\n", "\n")
        value = (stored if stored.replace("\r\n", "\n") == sent else sent) or None
        if name in self.changed_data and (problems := services.list_problems(FIELDS[name], value)):
            raise forms.ValidationError(problems)
        return value

    clean_slug = partialmethod(clean_text, "slug")
    clean_canonical_url = partialmethod(clean_text, "canonical_url")
    clean_excerpt = partialmethod(clean_text, "excerpt")
    clean_description = partialmethod(clean_text, "description")


def group_fields(names: Iterable[str]) -> list[tuple[str | None, dict[str, Any]]]:
    """Return the groups of the fields of the form: those above the panel, and those in it.

    The time of the button "Schedule" is in neither: it is beside the button.
    """
    names = list(names)
    return [
        (None, {"fields": [name for name in names if name not in (*OPTIONAL, "schedule_at")]}),
        (PANEL, {"fields": [name for name in OPTIONAL if name in names]}),
    ]
