"""Users and API keys in the admin site."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest

from contentapi.core.identity import Actor
from users import services
from users.admin_site import ServiceAdmin, ServiceForm
from users.models import ApiKey, User
from users.oauth import admin as oauth_desk  # noqa: F401 - registers itself

admin.site.unregister(Group)  # the role decides what a user may do: groups would have no effect


class NewUserForm(ServiceForm, AdminUserCreationForm):
    class Meta:
        model = User
        fields = ["email", "name", "role"]


class UserForm(ServiceForm, UserChangeForm):
    class Meta:
        model = User
        fields = ["email", "name", "role", "is_active", "password"]


@admin.register(User)
class UserAdmin(ServiceAdmin, DjangoUserAdmin):
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
        """Permit deleting a user's API keys with the user, although nobody may delete a key by itself."""
        shown, counts, _, protected = super().get_deleted_objects(objs, request)
        return shown, counts, set(), protected

    def create(self, actor: Actor, row: User, form: NewUserForm) -> User:
        values = form.cleaned_data
        password = values["password1"] if values["set_usable_password"] else None
        return services.create_user(
            actor=actor, email=values["email"], name=values["name"], role=values["role"], password=password
        )

    def edit(self, actor: Actor, row: User, form: UserForm) -> None:
        names = form.fields.keys() & services.EDITABLE
        changes = {name: form.cleaned_data[name] for name in names}
        services.edit_user(actor=actor, user_id=str(row.pk), changes=changes)

    def delete(self, actor: Actor, row: User) -> None:
        services.delete_user(actor=actor, user_id=str(row.pk))


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin):
    """Shows and revokes keys. `manage.py create_api_key` creates them, because it can show the key once."""

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
