from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest

from users import services
from users.login import throttle_login
from users.models import ApiKey, User
from users.oauth import admin as oauth_desk  # noqa: F401 - registers itself

admin.site.site_header = admin.site.site_title = "Content API"
admin.site.index_title = "Editors' desk"
admin.site.site_url = None
admin.site.login = throttle_login(admin.site.login)  # type: ignore[method-assign, assignment]
admin.site.unregister(Group)  # the role says what somebody may do; groups would say nothing


class NewUserForm(AdminUserCreationForm):
    class Meta:
        model = User
        fields = ["email", "name", "role"]


class UserForm(UserChangeForm):
    class Meta:
        model = User
        fields = ["email", "name", "role", "is_active", "password"]


@admin.register(User)
class UserAdmin(DjangoUserAdmin):
    form = UserForm
    add_form = NewUserForm
    list_display = ["email", "name", "role", "is_active", "last_login"]
    list_filter = ["role", "is_active"]
    search_fields = ["email", "name"]
    ordering = ["email"]
    filter_horizontal = []
    readonly_fields = ["last_login", "created_at"]
    fieldsets = [
        (None, {"fields": ["email", "password", "name", "role", "is_active"]}),
        ("Times", {"fields": ["created_at", "last_login"]}),
    ]
    add_fieldsets = [(None, {"fields": ["email", "name", "role", "usable_password", "password1", "password2"]})]

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[Any, Any, set[str], Any]:
        """Let a user's API keys go with the user, although nobody may delete a key by itself."""
        shown, counts, _, protected = super().get_deleted_objects(objs, request)
        return shown, counts, set(), protected


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin):
    """Keys are made by `manage.py create_api_key`, which shows the key once; here they are looked at and revoked."""

    list_display = ["prefix", "name", "user", "created_at", "expires_at", "revoked_at", "last_used_at"]
    list_filter = ["revoked_at"]
    search_fields = ["prefix", "name", "user__email"]
    list_select_related = ["user"]
    exclude = ["digest"]
    actions = ["revoke"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    @admin.action(description="Revoke the selected API keys", permissions=["view"])
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        for key in keys:
            services.revoke_api_key(prefix=key.prefix)
        self.message_user(request, f"Revoked: {', '.join(key.prefix for key in keys)}.", messages.SUCCESS)
