"""Every page of the admin site, by the name of its URL, and which roles may use it.

The actions of the permission table are in `admin_pages`. This table has each URL of the site, also those that only
scripts call. A row has a request and its outcome for each role.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse
from oauth2_provider.models import Application

from blog import services
from blog.models import Post, PreviewLink
from contentapi.core.identity import OPERATOR
from contentapi.events.webhooks.models import Delivery
from tests.contract import permissions
from tests.contract.admin_rows import (
    create_client,
    create_consent,
    create_delivery,
    create_job,
    create_key,
    create_webhook,
)
from tests.contract.permissions import AUTHORS, OTHERS, OWN, Outcome, allow
from tests.contract.worlds import World
from users.oauth.clients import describe_state

PAGE = "3f0c1a52-6a0e-4c9b-9d38-0b6f3d1c7a10"  # the number of an open page


def read_draft(world: World) -> str:
    return world.post_id("draft")


# The object of a page, by the beginning of the name of its URL
OBJECTS: Mapping[str, Callable[[World], object]] = {
    "auth_user_password_change": lambda world: world.target.user.pk,
    "blog_author": lambda world: world.target.author.pk,
    "blog_comment": lambda world: world.comment_id("draft"),
    "blog_image": lambda world: world.target.image.pk,
    "blog_importjob": create_job,
    "blog_post": read_draft,
    "events_webhook": create_webhook,
    "oauth2_provider_application": create_client,
    "oauth2_provider_refreshtoken": create_consent,
    "orders_order": lambda world: world.target.order.pk,
    "users_apikey": create_key,
    "users_user": lambda world: world.target.user.pk,
}


def find_object(world: World, name: str) -> object:
    return next(find(world) for beginning, find in OBJECTS.items() if name.startswith(beginning))


Send = Callable[[World, Client, str], Any]


def get_page(world: World, browser: Client, name: str) -> Any:
    return browser.get(reverse(f"admin:{name}"))


def get_object(world: World, browser: Client, name: str, *more: object) -> Any:
    return browser.get(reverse(f"admin:{name}", args=[find_object(world, name), *more]))


def post_page(values: Mapping[str, str]) -> Send:
    return lambda _, browser, name: browser.post(reverse(f"admin:{name}"), values, follow=True)


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


def revoke_link(world: World, browser: Client, name: str) -> Any:
    link = world.target.link
    response = browser.post(reverse(f"admin:{name}", args=[link.post_id, link.pk]), follow=True)
    return response if response.status_code >= 400 or not PreviewLink.objects.filter(pk=link.pk).exists() else "404"


def restore_deleted(world: World, browser: Client, name: str) -> Any:
    post_id = read_draft(world)
    services.delete_post(actor=OPERATOR, post_id=post_id)
    response = browser.post(reverse(f"admin:{name}", args=[post_id]), follow=True)
    return response if response.status_code >= 400 or Post.objects.filter(pk=post_id).exists() else "404"


def list_deleted(world: World, browser: Client, name: str) -> Any:
    services.delete_post(actor=OPERATOR, post_id=read_draft(world))
    response = browser.get(reverse(f"admin:{name}"))
    return response if world.target.posts["draft"].title in response.text else "404"


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


class Page(NamedTuple):
    """A request to a page, and its outcome for each role: `ok`, or the status of the refusal."""

    name: str
    whose: str
    outcomes: dict[str, Outcome]
    send: Send = get_object

    def __str__(self) -> str:
        return f"{self.name}, {self.whose}"


ALL = allow(AUTHORS)
EDITORS, EDITORS_SEE = allow(permissions.EDITORS, author=403), allow(permissions.EDITORS, author=404)
ADMINS, ADMINS_SEE = (
    allow(permissions.ADMINS, author=403, editor=403),
    allow(permissions.ADMINS, author=404, editor=404),
)
NOBODY = allow((), author=403, editor=403, admin=403)
HIDDEN = allow((), author=404, editor=404, admin=404)
ONLY_EDITORS_SEE = allow((), author=404, editor=403, admin=403)
ONLY_ADMINS_SEE = allow((), author=404, editor=404, admin=403)
PRESENCE = {"_page": PAGE}
PAGES = [
    Page("index", OWN, ALL, get_page),
    Page("search", OWN, ALL, get_page),
    Page("jsi18n", OWN, ALL, get_page),
    Page("password_change", OWN, ALL, get_page),
    Page("password_change_done", OWN, ALL, get_page),
    Page("app_list", OTHERS, ADMINS_SEE, get_app),
    Page("view_on_site", OWN, HIDDEN, view_on_site),
    Page("autocomplete", OTHERS, EDITORS_SEE, find_authors),
    Page("blog_post_changelist", OWN, ALL, get_page),
    Page("blog_post_add", OWN, ALL, get_page),
    *[
        Page(f"blog_post_{name}", whose, outcomes, send)
        for whose, outcomes in ((OWN, ALL), (OTHERS, EDITORS_SEE))
        for name, send in (
            ("change", get_object),
            ("delete", get_object),
            ("history", get_object),
            ("events", get_object),
            ("version", get_version),
            ("restore_version", restore_version),
            ("deleted", list_deleted),
            ("restore_deleted", restore_deleted),
            ("preview", preview_draft),
            ("presence", post_object(PRESENCE)),
            ("autosave", post_object({"title": "New", "opened_version": "1"})),
            ("open_preview", post_object({"site": "page"})),
            ("create_preview_link", post_object({"days": "7"})),
            ("revoke_preview_link", revoke_link),
        )
    ],
    Page("blog_post_take_over", OWN, ALL, post_object({"title": "Mine", "body": "My text"})),
    Page("blog_post_take_over", OTHERS, EDITORS_SEE, post_object({"title": "Mine", "body": "My text"})),
    Page("blog_post_bulk", OWN, ALL, perform_in_list("archive")),
    Page("blog_post_bulk", OTHERS, EDITORS_SEE, perform_in_list("archive")),
    Page("blog_post_tags", OWN, ALL, get_page),
    Page("blog_post_session", OWN, ALL, get_page),
    Page("blog_author_changelist", OTHERS, ALL, get_page),
    Page("blog_author_add", OTHERS, EDITORS, get_page),
    Page("blog_author_change", OWN, ALL),
    Page("blog_author_change", OTHERS, ALL),
    Page("blog_author_history", OTHERS, ALL),
    Page("blog_author_delete", OTHERS, EDITORS),
    Page("blog_comment_changelist", OTHERS, ALL, get_page),
    Page("blog_comment_add", OTHERS, EDITORS, get_page),
    Page("blog_comment_change", OTHERS, EDITORS_SEE),
    Page("blog_comment_history", OTHERS, EDITORS_SEE),
    Page("blog_comment_delete", OTHERS, ONLY_EDITORS_SEE),  # an action of `blog_comment_action` deletes comments
    Page("blog_comment_action", OTHERS, EDITORS_SEE, act_on("hide")),
    Page("blog_comment_bulk", OTHERS, EDITORS_SEE, perform_in_list("hide")),
    *[Page(f"blog_image_{name}", OWN, ALL, get_page) for name in ("changelist", "add", "choose", "describe")],
    *[Page(f"blog_image_{name}", whose, ALL) for whose in (OWN, OTHERS) for name in ("change", "history")],
    *[Page("blog_image_delete", whose, NOBODY) for whose in (OWN, OTHERS)],  # an action of `blog_image_action` deletes
    *[
        Page(f"blog_image_{name}", whose, outcomes, send)
        for whose, outcomes in ((OWN, ALL), (OTHERS, EDITORS))
        for name, send in (
            ("action", act_on("delete")),
            ("alt", post_object({"alt": "New"})),
            ("replace", post_object({})),
        )
    ],
    Page("blog_image_bulk", OWN, ALL, perform_in_list("delete")),
    Page("blog_image_bulk", OTHERS, EDITORS_SEE, perform_in_list("delete")),
    Page("blog_importjob_changelist", OWN, EDITORS, get_page),
    Page("blog_importjob_add", OWN, EDITORS, get_page),
    *[
        Page(f"blog_importjob_{name}", whose, outcomes, send)
        for whose, outcomes in ((OWN, EDITORS_SEE), (OTHERS, ADMINS_SEE))
        for name, send in (
            ("change", get_object),
            ("progress", get_object),
            ("start", post_object({})),
            ("cancel", post_object({})),
            ("undo", post_object({})),
        )
    ],
    Page("blog_importjob_history", OTHERS, ADMINS_SEE),
    Page("blog_importjob_delete", OWN, ONLY_EDITORS_SEE),
    Page("orders_order_changelist", OTHERS, ADMINS, get_page),
    Page("orders_order_add", OTHERS, NOBODY, get_page),
    Page("orders_order_change", OTHERS, ADMINS_SEE),
    Page("orders_order_history", OTHERS, ADMINS_SEE),
    Page("orders_order_delete", OTHERS, ONLY_ADMINS_SEE),
    Page("orders_order_action", OTHERS, ADMINS_SEE, act_on("cancel")),
    Page("orders_order_bulk", OTHERS, ADMINS, perform_in_list("cancel")),
    Page("events_webhook_changelist", OTHERS, ADMINS, get_page),
    Page("events_webhook_add", OTHERS, ADMINS, get_page),
    Page("events_webhook_change", OTHERS, ADMINS_SEE),
    Page("events_webhook_history", OTHERS, ADMINS_SEE),
    Page("events_webhook_delete", OTHERS, ADMINS_SEE),
    Page("events_webhook_action", OTHERS, ADMINS_SEE, act_on("disable")),
    Page("events_webhook_bulk", OTHERS, ADMINS, perform_in_list("disable")),
    Page("events_webhook_deliveries", OTHERS, ADMINS_SEE),
    Page("events_webhook_delivery", OTHERS, ADMINS_SEE, get_delivery),
    Page("events_webhook_redeliver", OTHERS, ADMINS_SEE, send_again),
    Page("oauth2_provider_application_changelist", OTHERS, ADMINS, get_page),
    Page("oauth2_provider_application_add", OTHERS, ADMINS, get_page),
    Page("oauth2_provider_application_change", OTHERS, ADMINS_SEE),
    Page("oauth2_provider_application_history", OTHERS, ADMINS_SEE),
    Page("oauth2_provider_application_delete", OTHERS, ADMINS_SEE),
    Page("oauth2_provider_application_action", OTHERS, ADMINS_SEE, renew_secret),
    Page("oauth2_provider_refreshtoken_changelist", OTHERS, ADMINS, get_page),
    Page("oauth2_provider_refreshtoken_add", OTHERS, NOBODY, get_page),
    Page("oauth2_provider_refreshtoken_change", OTHERS, ADMINS_SEE),
    Page("oauth2_provider_refreshtoken_history", OTHERS, ADMINS_SEE),
    Page("oauth2_provider_refreshtoken_delete", OTHERS, ONLY_ADMINS_SEE),
    Page("auth_user_password_change", OTHERS, ADMINS_SEE),
    Page("users_user_changelist", OTHERS, ADMINS, get_page),
    Page("users_user_add", OTHERS, ADMINS, get_page),
    Page("users_user_change", OTHERS, ADMINS_SEE),
    Page("users_user_history", OTHERS, ADMINS_SEE),
    Page("users_user_delete", OTHERS, ADMINS_SEE),
    Page("users_user_action", OTHERS, ADMINS_SEE, act_on("lock")),
    Page("users_user_bulk", OTHERS, ADMINS, perform_in_list("lock")),
    Page("users_apikey_changelist", OWN, ALL, get_page),
    Page("users_apikey_add", OWN, ALL, get_page),
    Page("users_apikey_change", OWN, ALL),
    Page("users_apikey_change", OTHERS, ADMINS_SEE),
    Page("users_apikey_history", OTHERS, ADMINS_SEE),
    Page("users_apikey_delete", OWN, NOBODY),
    Page("users_apikey_action", OWN, ALL, act_on("revoke")),
    Page("users_apikey_action", OTHERS, ADMINS_SEE, act_on("revoke")),
    Page("users_apikey_bulk", OWN, ALL, perform_in_list("revoke")),
    Page("users_apikey_bulk", OTHERS, ADMINS_SEE, perform_in_list("revoke")),
]


def name_outcome(response: Any) -> Outcome:
    """Return `ok`, or the status of a refusal, which is an HTML page or, for a script, JSON."""
    if isinstance(response, str):
        return response
    return str(response.status_code) if response.status_code >= 400 else "ok"
