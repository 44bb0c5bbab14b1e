"""The pages of the admin site for users, API keys and applications. Each module registers its own."""

from django.contrib import admin
from django.contrib.auth.models import Group

from users.desk.keys import ApiKeyAdmin
from users.desk.users import UserAdmin
from users.oauth import admin as oauth_desk

__all__ = ["ApiKeyAdmin", "UserAdmin", "oauth_desk"]

admin.site.unregister(Group)  # the role decides what a user may do: groups would have no effect
