"""The requests that a person can send to the admin with the ids of everybody's objects.

They are derived from the site: its URLs, the parameters of its lists, the fields of its forms and its actions.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from blog.models import Post, PostVersion
from tests.contract.admin_requests import PAGE
from tests.contract.test_admin_urls import find_patterns, list_parameters
from users.models import User

LEFT_OUT = {"logout"}  # it would end the walk
# What a person sends who wants to change, delete or restore something
SENT = {
    "title": "Mine", "body": "My text", "post": "yes", "present": "2", "opened_version": "1", "_page": PAGE,
}  # fmt: skip


class Request(NamedTuple):
    method: str
    url: str
    values: Mapping[str, Any]

    def send(self, browser: Client) -> Any:
        send = browser.post if self.method == "POST" else browser.get
        return send(self.url, self.values, follow=True)


def list_requests(browser: Client, word: str) -> Iterator[Request]:
    """Yield the requests of a person who is logged in. Lists are searched for the word."""
    yield from list_requests_to_urls()
    for model, page in admin.site._registry.items():
        url = reverse(f"admin:{name_model(model)}_changelist")
        yield from list_filtered_lists(url, model, page, word)
        yield from list_actions(browser, url, model)
        yield from list_requests_with_relations(model, word)
    for values in ({"s": word}, {"s": word, "extended": "1"}):
        yield Request("GET", reverse("admin:search"), values)
    for pk in list_ids(Post):
        yield Request("POST", reverse("admin:blog_post_preview"), {"post": pk, "body": "Text"})


def list_requests_to_urls() -> Iterator[Request]:
    """Yield a request to read and one to write for each URL, with the ids of all objects of its model."""
    for pattern in find_patterns(admin.site.get_urls()):
        name = pattern.name or ""
        if name in LEFT_OUT:
            continue
        parameters = list_parameters(pattern)
        for values in product(*(list_values(name, parameter) for parameter in parameters)):
            url = reverse(f"admin:{name}", kwargs=dict(zip(parameters, values, strict=True)))
            yield Request("GET", url, {})
            yield Request("POST", url, SENT)


def list_values(name: str, parameter: str) -> list[Any]:
    """Return the values of a parameter of a URL."""
    model = find_model(name)
    values: dict[str, Callable[[], list[Any]]] = {
        "action": lambda: [action.name for action in getattr(admin.site.get_model_admin(model), "desk_actions", [])],
        "app_label": lambda: ["blog", "users"],
        "content_type_id": lambda: [ContentType.objects.get_for_model(Post).pk],
        "number": lambda: [1, 2],
    }
    return values.get(parameter, lambda: list_ids(model))()


def find_model(name: str) -> type[Model]:
    """Return the model of the URL with this name."""
    if name == "auth_user_password_change":
        return User
    return next((model for model in admin.site._registry if name.startswith(f"{name_model(model)}_")), Post)


def name_model(model: type[Model]) -> str:
    return f"{model._meta.app_label}_{model._meta.model_name}"


def list_ids(model: type[Model]) -> list[int]:
    """Return the ids of all objects of a model, with those of deleted posts."""
    ids = set(model._base_manager.values_list("pk", flat=True))
    return sorted(ids | set(PostVersion.objects.values_list("id", flat=True)) if model is Post else ids)


def list_filtered_lists(url: str, model: type[Model], page: Any, word: str) -> Iterator[Request]:
    """Yield the lists of a model: searched, and by each value of each filter."""
    for lookup in ["q", *page.list_lookups]:
        field, _, condition = lookup.partition("__")
        related = condition == "id__exact" and model._meta.get_field(field).related_model
        for value in list_ids(related) if related else [word, "draft", "deleted"]:
            yield Request("GET", url, {lookup: value})


def list_actions(browser: Client, url: str, model: type[Model]) -> Iterator[Request]:
    """Yield each action of a list with all objects, before and after it is confirmed."""
    choices = re.search(r'<select name="action".*?</select>', browser.get(url).text, re.DOTALL)
    for action in re.findall(r'value="(\w+)"', choices[0]) if choices else []:
        values = {"action": action, "_selected_action": list_ids(model)}
        yield Request("POST", url, values)
        yield Request("POST", url, {**values, "post": "yes", "confirm": "yes", "schedule_at_local": "2100-01-01T00:00"})


def list_requests_with_relations(model: type[Model], word: str) -> Iterator[Request]:
    """Yield the suggestions for each relation of a model, and the new object with each related one."""
    for field in model._meta.fields:
        related = field.related_model
        if not isinstance(related, type) or not issubclass(related, Model):
            continue
        names = {"app_label": model._meta.app_label, "model_name": model._meta.model_name, "field_name": field.name}
        for term in ("", word):
            yield Request("GET", reverse("admin:autocomplete"), {**names, "term": term})
        for pk in list_ids(related):
            yield Request("GET", reverse(f"admin:{name_model(model)}_add"), {field.name: pk})
