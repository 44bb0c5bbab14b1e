"""The look of the admin site: name, scripts and sidebar, as the setting UNFOLD of django-unfold."""

from collections.abc import Callable
from typing import Any

from django.apps import apps
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

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


def get_style(_: HttpRequest) -> str:
    return static("desk/admin.css")


def get_script(_: HttpRequest) -> str:
    return static("desk/admin.js")


def get_theme_script(_: HttpRequest) -> str:
    return static("desk/theme.js")


def get_text_keeper(request: HttpRequest) -> str:
    """Return the script of the texts that the browser keeps. Its address names the user."""
    return f"{static('blog/kept_texts.js')}?user={request.user.pk or ''}"


UNFOLD = {
    "SITE_TITLE": NAME,
    "SITE_HEADER": NAME,
    "SITE_SUBHEADER": "Editors' desk",
    "SITE_SYMBOL": "edit_note",
    "SITE_URL": None,
    "SHOW_VIEW_ON_SITE": False,
    "DASHBOARD_CALLBACK": "blog.desk.dashboard.add_dashboard",
    "STYLES": [get_style],
    "SCRIPTS": [get_theme_script, get_script, get_text_keeper],
    "SIDEBAR": {"navigation": build_sidebar},
}
