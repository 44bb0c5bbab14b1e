from collections.abc import Sequence
from importlib import import_module
from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.contrib.admin import apps as admin
from django.contrib.admin import checks as admin_checks
from django.core import checks


class UsersConfig(AppConfig):
    name = "users"
    verbose_name = "Accounts"
    default = True

    def ready(self) -> None:
        apps.get_app_config("oauth2_provider").verbose_name = self.verbose_name  # in the desk


class AdminConfig(admin.SimpleAdminConfig):
    """Django's admin app, with the admin site of this project. `contentapi.urls` registers its pages."""

    default = False
    default_site = "users.desk.site.DeskSite"

    def ready(self) -> None:
        """Register the checks of Django's admin. The one of the pages loads them first."""
        checks.register(check_pages, checks.Tags.admin)
        checks.register(admin_checks.check_dependencies, checks.Tags.admin)


def check_pages(app_configs: Sequence[AppConfig] | None, **options: Any) -> Sequence[checks.CheckMessage]:
    import_module(settings.ROOT_URLCONF)
    return admin_checks.check_admin_app(app_configs, **options)
