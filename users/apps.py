from django.apps import AppConfig
from django.contrib.admin import apps as admin


class UsersConfig(AppConfig):
    name = "users"
    verbose_name = "Accounts"
    default = True


class AdminConfig(admin.AdminConfig):
    """Django's admin app, with the admin site of this project."""

    default = False
    default_site = "users.desk.site.DeskSite"
