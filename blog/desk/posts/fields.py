"""The fields of a post in its form, and their widgets. Without the scripts in `static/blog/` they are plain ones."""

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.urls import reverse
from unfold.widgets import UnfoldAdminMultipleAutocompleteModelChoiceFieldWidget, UnfoldAdminTextInputWidget

from blog.desk.images.pages import describe_tools
from blog.models import Author
from contentapi.core.pagination import parse_id
from contentapi.desk.forms import Textarea, TextField

# `![Uploading boat.jpg, 1](image:0)`: the mark of an upload that has not ended, with the lines before it
MARK = re.compile(r"\n{0,2}!\[Uploading [^]\n]*, [0-9]+\]\(image:0\)")


class SlugInput(UnfoldAdminTextInputWidget):
    """A slug, and below it what a search engine shows of the post."""

    template_name = "blog/widgets/slug.html"


class CoverInput(UnfoldAdminTextInputWidget):
    """The id of an image. A script shows the image, and chooses or uploads another one."""

    template_name = "blog/widgets/cover.html"


class ImageInput(CoverInput):
    """The id of an image in the form of an own type."""

    template_name = "blog/widgets/image.html"

    class Media:
        css = {"all": ["blog/images.css"]}
        js = [forms.Script(f"blog/{name}.js", type="module") for name in ("images", "image_choice", "cover")]

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        context["widget"]["one"] = "an image"
        return {**context, "tools": describe_tools()}


class MarkdownInput(Textarea):
    """A plain text with a toolbar, a number of words and a preview."""

    template_name = "blog/widgets/markdown.html"

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        return {**super().get_context(name, value, attrs), "tools": describe_tools()}


class CoauthorsInput(UnfoldAdminMultipleAutocompleteModelChoiceFieldWidget):
    """A list with suggestions: those of the field of the author. It shows and sends the co-authors in their order."""

    def build_attrs(self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None) -> dict[str, Any]:
        suggestions = {"data-app-label": "blog", "data-model-name": "post", "data-field-name": "author"}
        attributes: dict[str, Any] = super().build_attrs(base_attrs, extra_attrs)
        keys = {"data-allow-clear": "false"}  # Backspace would remove all names, not the last one
        return {**attributes, **suggestions, **keys, "data-ajax--url": reverse("admin:blog_author_choose")}

    def optgroups(self, name: str, value: Sequence[str], attr: Any = None) -> Any:
        authors = Author.objects.in_order_of([parse_id(text) for text in value])
        options = [
            self.create_option(name, each.pk, each.name, selected=True, index=place)
            for place, each in enumerate(authors)
        ]
        return [(None, options, 0)]


class TitleField(TextField):
    """A text of one line. A browser without the script sends the line ends of a title that was pasted."""

    def to_python(self, value: Any) -> Any:
        return super().to_python(value).replace("\n", " ")


class BodyField(TextField):
    """A text without the marks of uploads."""

    def to_python(self, value: Any) -> Any:
        return MARK.sub("", super().to_python(value))


def build_text(widget: Any, help_text: str, **options: Any) -> TextField:
    """Return the field of a text. An empty one is null."""
    return TextField(widget=widget, required=False, empty_value=None, help_text=help_text, **options)
