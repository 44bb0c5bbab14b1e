"""The look of the admin site: name, scripts and sidebar, as the setting UNFOLD of django-unfold."""

from collections.abc import Callable
from typing import Any

from django.apps import apps
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.module_loading import import_string

NAME = "Content API"


def build_sidebar(_: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups of the sidebar, for each request: the theme copies them, and lazy addresses take 10 ms."""
    return [
        {
            "title": "Content",
            "items": [
                {"title": "Desk", "icon": "home", "link": reverse("admin:index")},
                build_entry("Posts", "article", "blog.Post"),
                build_entry("Images", "image", "blog.Image"),
                build_entry("Comments", "chat", "blog.Comment"),
                build_entry("Authors", "person_edit", "blog.Author"),
                build_entry("Imports", "upload_file", "blog.ImportJob"),
            ],
        },
        {
            "title": "Account",
            "items": [build_entry("API keys", "key", "users.ApiKey")],
        },
        {
            "title": "Administration",
            "items": [
                build_entry("Users", "group", "users.User"),
                build_entry("Applications", "apps", "oauth2_provider.Application"),
                build_entry("Connected applications", "verified_user", "oauth2_provider.RefreshToken"),
                build_entry("Webhooks", "webhook", "events.Webhook"),
                build_entry("Orders", "shopping_cart", "orders.Order"),
            ],
        },
    ]


def build_entry(title: str, icon: str, model: str) -> dict[str, Any]:
    """Return an entry of the sidebar: the list of a model, for users whom its admin gives access."""
    return {
        "title": title,
        "icon": icon,
        "link": reverse(f"admin:{model.replace('.', '_').lower()}_changelist"),
        "permission": build_permission(model),
    }


def build_permission(model: str) -> Callable[[HttpRequest], bool]:
    def has_permission(request: HttpRequest) -> bool:
        from django.contrib import admin

        return admin.site.get_model_admin(apps.get_model(model)).has_module_permission(request)

    return has_permission


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
