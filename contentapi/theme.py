"""The look of the admin site: name, colours and sidebar, as the setting UNFOLD of django-unfold."""

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
                build_entry("Consents", "verified_user", "oauth2_provider.RefreshToken"),
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
    return static("users/admin.css")


def get_script(_: HttpRequest) -> str:
    return static("users/admin.js")


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
    "BORDER_RADIUS": "6px",
    "DASHBOARD_CALLBACK": "blog.dashboard.add_dashboard",
    "STYLES": [get_style],
    "SCRIPTS": [get_script, get_text_keeper],
    # Neutral greys and one blue. Text has at least the contrast that WCAG 2.1 AA requires: see tests/e2e/test_desk.py.
    "COLORS": {
        "base": {
            "50": "#f7f8fa",
            "100": "#eff1f4",
            "200": "#dfe3e8",
            "300": "#c6ccd5",
            "400": "#9aa3b0",
            "500": "#636c7a",
            "600": "#49515e",
            "700": "#363d48",
            "800": "#232932",
            "900": "#171c23",
            "950": "#0e1217",
        },
        "primary": {
            "50": "#eff5fc",
            "100": "#dbe8f8",
            "200": "#bdd4f2",
            "300": "#93b9ea",
            "400": "#78a8e6",
            "500": "#6b9fe3",
            "600": "#2460b4",
            "700": "#1d4f96",
            "800": "#1a4279",
            "900": "#193a66",
            "950": "#122542",
        },
        "font": {
            "subtle-light": "var(--color-base-600)",
            "subtle-dark": "var(--color-base-400)",
            "default-light": "var(--color-base-700)",
            "default-dark": "var(--color-base-300)",
            "important-light": "var(--color-base-900)",
            "important-dark": "var(--color-base-100)",
        },
    },
    "SIDEBAR": {"navigation": build_sidebar},
}
