from django.apps import AppConfig, apps
from django.contrib.admin import apps as admin

from contentapi.core.identity import OWN_TYPES


class UsersConfig(AppConfig):
    name = "users"
    verbose_name = "Accounts"
    default = True

    def ready(self) -> None:
        apps.get_app_config("oauth2_provider").verbose_name = self.verbose_name  # in the desk


class AdminConfig(admin.AdminConfig):
    """Django's admin app, with the admin site of this project."""

    default = False
    default_site = "users.desk.site.DeskSite"

    def ready(self) -> None:
        """Register the admins of the apps, and then those of own types, which look at them."""
        super().ready()
        if OWN_TYPES:
            from contentapi.types.desk import register_admins

            register_admins()
