"""The notice in the form of a post that other people have it open too."""

from typing import Any
from uuid import UUID, uuid4

from django.forms import Media
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from blog.desk.posts.conflict import ConflictAdmin
from blog.models import Post
from blog.services import presence
from contentapi.core.errors import Malformed
from contentapi.core.pagination import parse_id
from users.desk.bases import get_actor


class PresenceAdmin(ConflictAdmin):
    """The admin of posts, with the notice. A script renews it (blog/static/blog/presence.js)."""

    @property
    def media(self) -> Any:
        return super().media + Media(css={"all": ["blog/post.css"]}, js=["blog/presence.js"])

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.announce_page)
        return [path("<str:object_id>/presence/", view, name="blog_post_presence"), *super().get_urls()]

    @method_decorator(require_POST)
    def announce_page(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Note that a page has a post open, or is closed. Return who else has it open, and who has saved it since."""
        actor, page = get_actor(request), read_page(request)
        if page is None:
            raise Malformed("The page has no number.")
        if "closed" in request.POST:
            presence.forget_page(actor=actor, post_id=object_id, page=page)
            return HttpResponse(status=204)
        people = presence.announce_page(actor=actor, post_id=object_id, page=page)
        opened = parse_id(request.POST.get("opened_version", ""))
        save = presence.find_save(actor=actor, post_id=object_id, opened=opened) if opened else None
        return JsonResponse({"people": [person._asdict() for person in people], "save": save and save._asdict()})

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Post | None = None,
    ) -> Any:
        actor = get_actor(request)
        if change and obj is not None and self.may_change(actor, obj):
            people = presence.list_others(actor=actor, post_id=str(obj.pk))
            context["presence"] = {"people": people, "page": uuid4(), "post_id": obj.pk}
        return super().render_change_form(request, context, add, change, form_url, obj)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        page = read_page(request)
        if change and page is not None:
            presence.forget_page(actor=get_actor(request), post_id=str(obj.pk), page=page)


def read_page(request: HttpRequest) -> UUID | None:
    """Return the number of the page that sent the request; None if it has none."""
    try:
        return UUID(request.POST.get("_page", ""))
    except ValueError:
        return None
