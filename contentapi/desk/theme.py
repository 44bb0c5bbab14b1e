"""The look of the admin site: name, scripts and sidebar, as the setting UNFOLD of django-unfold."""

from typing import Any

from django.apps import apps
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.module_loading import import_string

NAME = "Content API"


def build_sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups of the sidebar, for each request: the theme copies them, and lazy addresses take 10 ms."""
    from django.contrib import admin  # the settings import this module

    from contentapi.events.declarations import Group, load_apps

    groups: dict[Group, list[dict[str, Any]]] = {group: [] for group in Group}
    first = {"title": "Desk", "icon": "home", "link": reverse("admin:index")}
    groups[Group.CONTENT].append(first)
    entries = (entry for app in load_apps() for entry in app.sidebar)
    for title, icon, model, group in entries:
        model_admin = admin.site.get_model_admin(apps.get_model(model))
        if model_admin.has_module_permission(request):
            name = model.replace(".", "_").lower()
            groups[group].append({"title": title, "icon": icon, "link": reverse(f"admin:{name}_changelist")})
    return [{"title": group.value, "items": items} for group, items in groups.items()]


def build_theme(*, dashboard: str, script: str) -> dict[str, Any]:
    """Return the setting UNFOLD. The names are of functions: of the first page, and of the address of a script."""
    return {
        "SITE_TITLE": NAME,
        "SITE_HEADER": NAME,
        "SITE_SUBHEADER": "Editors' desk",
        "SITE_SYMBOL": "edit_note",
        "SITE_URL": None,
        "SHOW_VIEW_ON_SITE": False,
        "DASHBOARD_CALLBACK": dashboard,
        "STYLES": [lambda _: static("desk/admin.css")],
        "SCRIPTS": [
            lambda _: static("desk/theme.js"),
            lambda _: static("desk/admin.js"),
            lambda request: import_string(script)(request),
        ],
        "SIDEBAR": {"navigation": build_sidebar},
    }
