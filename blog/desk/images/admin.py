"""Images in the admin site: the library as a grid, and the page of an image."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from unfold.widgets import INPUT_CLASSES

from blog import policy, selectors, services
from blog.desk.images import library
from blog.desk.images.pages import describe_images, describe_tools, replace_file, save_alt, show_choice, show_upload
from blog.models import Image, ImageStatus
from contentapi.auth.sessions import get_actor
from contentapi.conf.timeouts import RESTORABLE_FOR
from contentapi.core.identity import Actor
from contentapi.desk.actions import Action, perform_each
from contentapi.desk.bases import Page, PolicyAdmin
from contentapi.desk.forms import ServiceForm
from contentapi.desk.rendering import build_column, build_time_column
from contentapi.events.declarations import describe_uses

PREVIEW = 960  # pixels of width
NAMED = 20  # rows of own types that the page names
NO_TEXT = mark_safe('<span class="alarm">No text</span>')
FOCAL_POINT = ("focal_x", "focal_y")
FRACTION = forms.NumberInput({"step": 0.01, "class": " ".join(INPUT_CLASSES)})


class DeletionForm(forms.Form):
    force = forms.BooleanField(
        required=False,
        label="Also if posts use it",
        help_text="These posts then show the text of the image in its places.",
    )


def may_change(actor: Actor, image: Image) -> bool:
    return policy.may_change_images_of(actor, image.owner_id)


ACTIONS = [
    Action(
        name="delete",
        label="Delete",
        done="Deleted",
        help=f"The image can be restored for {RESTORABLE_FOR.days} days. Then it is gone for good.",
        perform=perform_each(services.delete_image, "image_id"),
        is_permitted=may_change,
        is_offered=lambda image: image.deleted_at is None,
        form=DeletionForm,
        confirmed_from=1,
        is_dangerous=True,
    ),
    Action(
        name="restore",
        label="Restore",
        done="Restored",
        help="The image has its places in posts again.",
        perform=perform_each(services.restore_image, "image_id"),
        is_permitted=may_change,
        is_offered=lambda image: image.deleted_at is not None,
    ),
]


class ImageForm(ServiceForm):
    """The texts of an image, and the point that stays visible when it is cropped: the script sets it by a click."""

    focal_x = forms.FloatField(label="From the left", min_value=0, max_value=1, widget=FRACTION)
    focal_y = forms.FloatField(label="From the top", min_value=0, max_value=1, widget=FRACTION)

    class Meta:
        model = Image
        fields = ["name", "alt", "caption", "credit", *FOCAL_POINT]
        labels = {"alt": "Alternative text"}
        help_texts = {
            "alt": "What the image shows, for people who do not see it.",
            "caption": "A sentence below the image, on sites that show it.",
            "credit": "Who made the image.",
        }

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in self.fields.keys() & {"alt", "caption", "credit"}:
            self.fields[name].required = False


def render_named(image: Image) -> SafeString:
    return format_html('{}<span class="image-name">{}</span>', library.render_thumbnail(image), image.name)


@admin.register(Image)
class ImageAdmin(PolicyAdmin):
    desk_actions = ACTIONS
    pages = [
        Page("choose/", "choose", show_choice),
        Page("describe/", "describe", describe_images),
        Page("<str:object_id>/alt/", "alt", save_alt),
        Page("<str:object_id>/replace/", "replace", replace_file, "../change/"),
    ]
    list_class = library.ImageList
    form = ImageForm
    change_form_before_template = "blog/image_file.html"
    change_form_outer_after_template = "blog/beside_image.html"
    list_before_template = "blog/image_tabs.html"
    list_display = ["show_image", "show_facts", "show_size", "show_created_at"]
    list_filter = [library.ImageFilter]
    list_lookups = frozenset({library.ImageFilter.parameter_name})
    list_per_page = 24
    sortable_by = ["show_size", "show_created_at"]
    search_fields = ["name"]  # shows the search box
    search_rows = staticmethod(lambda _, images, text: library.search_images(images, text))
    ordering = ["-created_at", "-id"]
    fieldsets = [(None, {"fields": ["name", "alt", "caption", "credit"]}), ("Focal point", {"fields": [FOCAL_POINT]})]

    class Media:
        css = {"all": ["blog/images.css"]}

    may_open = staticmethod(policy.may_list_images)
    may_add = staticmethod(policy.may_upload_images)
    select_rows = staticmethod(library.select_library)

    def may_change(self, actor: Actor, row: Image | None) -> bool:
        """Return whether the actor may change an image. A deleted one is restored first."""
        return policy.may_upload_images(actor) if row is None else may_change(actor, row) and row.deleted_at is None

    # The library

    def list_actions(self, request: HttpRequest) -> list[Action]:
        return ACTIONS

    def select_for_action(self, request: HttpRequest, action: Action) -> models.QuerySet[Image]:
        actor = get_actor(request)
        return self.select_rows(actor).filter(policy.editable_images(actor))

    show_image = build_column("Image", render_named)
    show_facts = build_column("Text", lambda image: image.alt or NO_TEXT)
    show_size = build_column("Size", library.describe_size, ordering="size")
    show_created_at = build_time_column("created_at", "Uploaded at", ordering="created_at")

    # The page of an image

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        return show_upload(request, self)

    def build_form_context(self, request: HttpRequest, row: Image | None) -> dict[str, Any]:
        if row is None:
            return {}
        actor, ids = get_actor(request), selectors.images.list_posts_with_image(row.pk)
        posts = list(selectors.images.select_seen_posts(actor, ids))
        return {
            "image_url": library.get_variant_url(row, PREVIEW),
            "image_size": library.describe_size(row),
            "is_waiting": row.source != "" and row.deleted_at is None,
            "is_rejected": row.status == ImageStatus.REJECTED,
            "may_replace": self.may_change(actor, row),
            "posts_with_image": posts,
            "other_posts": len(ids) - len(posts),
            "own_uses": describe_uses(actor, "Image", row.pk, NAMED),
            "tools": describe_tools(),
        }

    def edit(self, actor: Actor, row: Image, form: ServiceForm) -> None:
        """Save what the person has changed. The worker may have processed the file since the form was opened."""
        changes = {name: form.cleaned_data[name] for name in form.changed_data if name not in FOCAL_POINT}
        if len(changes) < len(form.changed_data):
            changes["focal_point"] = {name[-1]: form.cleaned_data[name] for name in FOCAL_POINT}
        services.edit_image(actor=actor, image_id=str(row.pk), changes=changes)
