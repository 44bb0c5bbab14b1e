"""The co-authors of a post in its form: a list in their order, which editors change and others read."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.urls import reverse
from unfold.widgets import UnfoldAdminMultipleAutocompleteModelChoiceFieldWidget

from blog import policy
from blog.models import MAX_COAUTHORS, Author, Post
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.desk.service_admin import ServiceForm


class CoauthorsInput(UnfoldAdminMultipleAutocompleteModelChoiceFieldWidget):
    """A list with suggestions: those of the field of the author. It shows and sends the co-authors in their order."""

    class Media:
        js = [forms.Script("blog/coauthors.js", type="module")]

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


class CoauthorsField(forms.Field):
    """The ids of authors, in the order of the list. The service decides whether they can be co-authors."""

    widget = CoauthorsInput

    def to_python(self, value: Any) -> list[int]:
        return [parse_id(str(text)) for text in value or () if text]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(initial) != self.to_python(data)


class CoauthorsForm(ServiceForm):
    """The field for the co-authors of a post. `list_hidden` leaves it out for users who may not set them."""

    coauthor_ids = CoauthorsField(
        label="Co-authors",
        required=False,
        help_text=f"At most {MAX_COAUTHORS}, in the order in which readers see them. Remove and choose a name again to "
        "move it to the end. Co-authors may read the post before it is public.",
    )


def list_hidden(actor: Actor) -> list[str]:
    """Return the name of the field if the actor may not set co-authors."""
    return [] if policy.may_manage_posts_and_authors(actor) else ["coauthor_ids"]


def list_writers(post: Post) -> list[Author]:
    """Return the author and the co-authors of a post."""
    return [post.author, *Author.objects.in_order_of(post.coauthor_ids)]


def name_authors(ids: Sequence[int]) -> list[str]:
    return [author.name for author in Author.objects.in_order_of(ids)]
