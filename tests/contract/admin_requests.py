"""Requests to pages of the admin site, with objects of a world: what the rows of `admin_urls` send."""

from collections.abc import Callable, Mapping
from operator import methodcaller
from typing import Any, NamedTuple

from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from oauth2_provider.models import Application

from blog import services
from blog.models import Post, PreviewLink
from contentapi.core.identity import OPERATOR
from contentapi.events.webhooks.models import Delivery
from tests.contract.admin_rows import (
    create_client,
    create_consent,
    create_delivery,
    create_job,
    create_key,
    create_webhook,
)
from tests.contract.permissions import ADMINS, AUTHORS, EDITORS, OTHERS, Outcome, allow
from tests.contract.worlds import World
from users.oauth.clients import describe_state

PAGE = "3f0c1a52-6a0e-4c9b-9d38-0b6f3d1c7a10"  # the number of an open page


def read_draft(world: World) -> str:
    return world.post_id("draft")


# The object of a page, by the beginning of the name of its URL, if it is not a row that the target owns
OBJECTS: Mapping[str, Callable[[World], object]] = {
    "auth_user_password_change": lambda world: world.target.user.pk,
    "blog_comment": lambda world: world.comment_id("draft"),
    "blog_importjob": create_job,
    "blog_post": read_draft,
    "events_webhook": create_webhook,
    "oauth2_provider_application": create_client,
    "oauth2_provider_refreshtoken": create_consent,
    "users_apikey": create_key,
}


def find_objects(world: World) -> dict[str, Callable[[World], object]]:
    """Return the objects of pages: those of OBJECTS, and the rows that the target owns."""
    owned = {
        row._meta.label_lower.replace(".", "_"): methodcaller("find_id", field)
        for field, row in (vars(world.target) | world.target.others).items()
        if isinstance(row, Model)
    }
    return {**owned, **OBJECTS}


def find_object(world: World, name: str) -> object:
    return next(find(world) for beginning, find in find_objects(world).items() if name.startswith(beginning))


Send = Callable[[World, Client, str], Any]


def get_page(world: World, browser: Client, name: str) -> Any:
    return browser.get(reverse(f"admin:{name}"))


def get_object(world: World, browser: Client, name: str, *more: object) -> Any:
    return browser.get(reverse(f"admin:{name}", args=[find_object(world, name), *more]))


def post_object(values: Mapping[str, str], *more: object) -> Send:
    """Return a request that sends values for the object. A redirect is followed: it may lead to a refusal."""

    def send(world: World, browser: Client, name: str) -> Any:
        url = reverse(f"admin:{name}", args=[find_object(world, name), *more])
        return browser.post(url, values, follow=True)

    return send


def act_on(action: str, values: Mapping[str, str] | None = None) -> Send:
    return post_object(values or {}, action)


def change_post_before(world: World) -> None:
    """Give the draft a second version."""
    services.edit_post(actor=OPERATOR, post_id=read_draft(world), changes={"title": "New"})


def get_version(world: World, browser: Client, name: str) -> Any:
    return get_object(world, browser, name, 1)


def restore_version(world: World, browser: Client, name: str) -> Any:
    change_post_before(world)
    return post_object({"present": "2"}, 1)(world, browser, name)


def save_copy(world: World) -> int:
    """Save a working copy of the draft. Return its version."""
    return services.save_working_copy(actor=OPERATOR, post_id=read_draft(world), title="New").version


def get_changes(world: World, browser: Client, name: str) -> Any:
    save_copy(world)
    return get_object(world, browser, name)


def get_copy(world: World, browser: Client, name: str) -> Any:
    return get_object(world, browser, name, save_copy(world))


def restore_copy(world: World, browser: Client, name: str) -> Any:
    version = save_copy(world)
    return post_object({"copy": str(version)}, version)(world, browser, name)


def revoke_link(world: World, browser: Client, name: str) -> Any:
    link = world.target.link
    response = browser.post(reverse(f"admin:{name}", args=[link.post_id, link.pk]), follow=True)
    return response if response.status_code >= 400 or not PreviewLink.objects.filter(pk=link.pk).exists() else "404"


def restore_deleted(world: World, browser: Client, name: str) -> Any:
    post_id = read_draft(world)
    services.delete_post(actor=OPERATOR, post_id=post_id)
    response = browser.post(reverse(f"admin:{name}", args=[post_id]), follow=True)
    return response if response.status_code >= 400 or Post.objects.filter(pk=post_id).exists() else "404"


def restore_selected(world: World, browser: Client, name: str) -> Any:
    post_id = read_draft(world)
    services.delete_post(actor=OPERATOR, post_id=post_id)
    response = browser.post(reverse(f"admin:{name}"), {"post": post_id}, follow=True)
    return response if response.status_code >= 400 or Post.objects.filter(pk=post_id).exists() else "404"


def list_deleted(world: World, browser: Client, name: str) -> Any:
    services.delete_post(actor=OPERATOR, post_id=read_draft(world))
    response = browser.get(reverse(f"admin:{name}"))
    return response if world.target.posts["draft"].title in str(response.context_data) else "404"


def preview_draft(world: World, browser: Client, name: str) -> Any:
    return browser.post(reverse(f"admin:{name}"), {"post": read_draft(world), "body": "Text"})


def perform_in_list(action: str) -> Send:
    """Return a request for an action of the list. An object that it does not find is as if it did not exist."""

    def send(world: World, browser: Client, name: str) -> Any:
        values = {"ids": str(find_object(world, name))}
        address = reverse(f"admin:{name}", args=[action])
        response = browser.post(address, values, headers={"Accept": "application/json"})
        return response if response.status_code >= 400 or response.json()["done"] else "404"

    return send


def get_delivery(world: World, browser: Client, name: str) -> Any:
    return browser.get(reverse(f"admin:{name}", args=create_delivery(world)))


def send_again(world: World, browser: Client, name: str) -> Any:
    response = browser.post(reverse(f"admin:{name}", args=create_delivery(world)), follow=True)
    return response if response.status_code >= 400 or Delivery.objects.get().state == "waiting" else "404"


def get_app(_: World, browser: Client, name: str) -> Any:
    return browser.get(reverse(f"admin:{name}", args=["orders"]))


def find_authors(world: World, browser: Client, name: str) -> Any:
    values = {"app_label": "blog", "model_name": "post", "field_name": "author", "term": world.target.author.name}
    response = browser.get(reverse(f"admin:{name}"), values)
    return response if response.status_code >= 400 or response.json()["results"] else "404"


def view_on_site(world: World, browser: Client, name: str) -> Any:
    kind = ContentType.objects.get_for_model(Post).pk
    return browser.get(reverse(f"admin:{name}", args=[kind, read_draft(world)]))


def renew_secret(world: World, browser: Client, name: str) -> Any:
    client_id = create_client(world)
    values = {"opened": describe_state(Application.objects.get())}
    return browser.post(reverse(f"admin:{name}", args=[client_id, "renew-secret"]), values, follow=True)


Outcomes = dict[str, Outcome]  # by role


class Page(NamedTuple):
    """A request to a page, and its outcome for each role: `ok`, or the status of the refusal."""

    name: str
    whose: str
    outcomes: Outcomes
    send: Send = get_object

    def __str__(self) -> str:
        return f"{self.name}, {self.whose}"


def list_pages(model: str, listed: Outcomes, added: Outcomes, seen: Outcomes, deleted: Outcomes) -> list[Page]:
    """Return the rows of the pages that each model has: its list, the form of a new object, and an object of others."""
    pages = {"changelist": listed, "add": added}
    pages_of_object = {"change": seen, "history": seen, "delete": deleted}
    return [
        *(Page(f"{model}_{name}", OTHERS, outcomes, get_page) for name, outcomes in pages.items()),
        *(Page(f"{model}_{name}", OTHERS, outcomes) for name, outcomes in pages_of_object.items()),
    ]


ALL = allow(AUTHORS)
EDITORS_MAY, EDITORS_SEE = allow(EDITORS, author=403), allow(EDITORS, author=404)
ADMINS_MAY, ADMINS_SEE = allow(ADMINS, author=403, editor=403), allow(ADMINS, author=404, editor=404)
NOBODY = allow((), author=403, editor=403, admin=403)
HIDDEN = allow((), author=404, editor=404, admin=404)
ONLY_EDITORS_SEE = allow((), author=404, editor=403, admin=403)
ONLY_ADMINS_SEE = allow((), author=404, editor=404, admin=403)
