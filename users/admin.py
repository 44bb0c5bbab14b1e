"""Users and API keys in the admin site."""

from copy import copy
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import BooleanRadioFilter, ChoicesDropdownFilter, DropdownFilter
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminIntegerFieldWidget

from contentapi.core import policy
from contentapi.core.identity import Actor, Scope
from users import selectors, services
from users.admin_acts import Act, ActsAdmin, perform_each
from users.admin_bases import ServiceAdmin, ServiceForm, get_actor, render_time
from users.models import ApiKey, User
from users.oauth import admin as oauth_desk  # noqa: F401 - registers itself

admin.site.unregister(Group)  # the role decides what a user may do: groups would have no effect


class NewUserForm(ServiceForm, UserCreationForm):
    class Meta:
        model = User
        fields = ["email", "name", "role"]


class UserForm(ServiceForm, UserChangeForm):
    class Meta:
        model = User
        fields = ["email", "name", "role", "password"]


class PasswordForm(AdminPasswordChangeForm):
    """The form in which an admin sets the password of a user. The service saves it."""

    def __init__(self, actor: Actor, user: User, *arguments: Any, **options: Any) -> None:
        super().__init__(user, *arguments, **options)
        self.user: User = user
        self.actor = actor

    def save(self, commit: bool = True) -> User:
        password = self.cleaned_data["password1"] if self.cleaned_data["set_usable_password"] else None
        user = services.set_password(actor=self.actor, user_id=str(self.user.pk), password=password)
        self.user = user  # Django renews the session of an admin who changes the own password
        return user


def may_manage(actor: Actor, _: User) -> bool:
    return policy.may_manage_users(actor)


@admin.register(User)
class UserAdmin(ActsAdmin, ServiceAdmin, DjangoUserAdmin):
    """The accounts. A new role takes effect at once: tokens that were issued for the old role are revoked."""

    acts: ClassVar = [
        Act(
            name="lock",
            label="Lock",
            done="Locked",
            help="The user cannot log in, and API keys and tokens are refused. Posts, comments and orders stay.",
            perform=perform_each(services.lock_user, "user_id"),
            is_permitted=may_manage,
            is_offered=lambda user: user.is_active,
        ),
        Act(
            name="unlock",
            label="Unlock",
            done="Unlocked",
            help="The user can log in again, and the API keys are valid again.",
            perform=perform_each(services.unlock_user, "user_id"),
            is_permitted=may_manage,
            is_offered=lambda user: not user.is_active,
        ),
    ]
    form = UserForm
    add_form = NewUserForm
    list_display = ["email", "name", "role", "show_state", "show_last_login"]
    list_filter = [("role", ChoicesDropdownFilter), ("is_active", BooleanRadioFilter)]
    list_lookups = frozenset({"role__exact", "is_active__exact"})
    list_filter_submit = True
    sortable_by = ["email", "name"]
    search_fields = ["email", "name"]
    ordering = ["email"]
    filter_horizontal = []
    readonly_fields = ["show_state", "show_last_login", "show_created_at"]
    fieldsets = [
        (None, {"fields": ["email", "password", "name", "role", "show_state"]}),
        ("Times", {"fields": ["show_created_at", "show_last_login"]}),
    ]
    add_fieldsets = [(None, {"fields": ["email", "name", "role", "usable_password", "password1", "password2"]})]

    def may_open(self, actor: Actor) -> bool:
        return policy.may_manage_users(actor)

    def select_rows(self, actor: Actor) -> QuerySet[User]:
        return selectors.select_users(actor)

    def may_see(self, actor: Actor, row: User) -> bool:
        return policy.may_see_user(actor, row.pk)

    def may_add(self, actor: Actor) -> bool:
        return policy.may_manage_users(actor)

    def may_change(self, actor: Actor, row: User | None) -> bool:
        return policy.may_manage_users(actor)

    def may_delete(self, actor: Actor, row: User | None) -> bool:
        return policy.may_manage_users(actor) if row is None else policy.may_delete_user(actor, row.pk)

    @display(description="Status", label={"active": "success", "locked": "danger"})
    def show_state(self, user: User) -> str:
        return "active" if user.is_active else "locked"

    @display(description="Last login at", ordering="last_login")
    def show_last_login(self, user: User) -> SafeString | None:
        return render_time(user.last_login)

    @display(description="Created at")
    def show_created_at(self, user: User) -> SafeString | None:
        return render_time(user.created_at)

    def count_dependents(self, rows: list[Any]) -> dict[str, int]:
        return {"API keys": selectors.count_api_keys(rows)}

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

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002
        """Show and save the form of a password. The copy of this admin has a form that knows who sends it."""
        admin = copy(self)
        admin.change_password_form = partial(PasswordForm, get_actor(request))
        return self.show_error(request, lambda: super(UserAdmin, admin).user_change_password(request, id, form_url))

    def delete(self, actor: Actor, row: User) -> None:
        services.delete_user(actor=actor, user_id=str(row.pk))


class NewKeyForm(ServiceForm):
    """A new API key of the user who is logged in. A form creates one key only: it brings the prefix of the key."""

    scopes = forms.MultipleChoiceField(
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        required=False,
        help_text="What the key may be used for, as far as your role allows it. Without a choice: all of this.",
    )
    expires_in_days = forms.IntegerField(
        label="Days until it expires",
        initial=services.API_KEY_DAYS,
        min_value=1,
        max_value=services.MAX_KEY_DAYS,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    key_prefix = forms.CharField(widget=forms.HiddenInput, initial=services.make_prefix)

    api_fields: ClassVar = {"prefix": "key_prefix"}
    scope_choices: ClassVar[list[tuple[str, str]]] = []
    secret = ""  # the new key, until the response shows it

    class Meta:
        model = ApiKey
        fields = ["name"]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if "scopes" in self.fields:
            self.fields["scopes"].choices = self.scope_choices  # type: ignore[attr-defined]


STATES = {"valid": "success", "revoked": "danger", "expired": "warning"}


class StateFilter(DropdownFilter):
    title = "status"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state, state.capitalize()) for state in STATES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> QuerySet[ApiKey]:
        return selectors.filter_keys_by_state(queryset, self.value() or "")


@admin.register(ApiKey)
class ApiKeyAdmin(ActsAdmin, ServiceAdmin):
    """The API keys of the user who is logged in; for admins all. A key is shown once, when it is created."""

    acts: ClassVar = [
        Act(
            name="revoke",
            label="Revoke",
            done="Revoked",
            help="Requests with the key are refused at once. A revoked key never becomes valid again.",
            perform=perform_each(services.revoke_api_key, "prefix", attribute="prefix"),
            is_permitted=lambda actor, key: policy.may_manage_keys_of(actor, key.user_id),
            is_offered=lambda key: key.revoked_at is None,
        )
    ]
    form = NewKeyForm
    list_display = ["prefix", "name", "show_state", "user", "show_expires_at", "show_last_used_at"]
    list_filter = [StateFilter]
    list_lookups = frozenset({"state"})
    list_filter_submit = True
    sortable_by = ["prefix", "name"]
    search_fields = ["prefix", "name", "user__email"]
    list_select_related = ["user"]
    ordering = ["-id"]

    def may_open(self, actor: Actor) -> bool:
        return policy.may_manage_keys_of(actor, actor.user_id)

    def select_rows(self, actor: Actor) -> QuerySet[ApiKey]:
        return selectors.select_api_keys(actor)

    def may_see(self, actor: Actor, row: ApiKey) -> bool:
        return policy.may_manage_keys_of(actor, row.user_id)

    def may_add(self, actor: Actor) -> bool:
        return policy.may_manage_keys_of(actor, actor.user_id)

    def get_list_display(self, request: HttpRequest) -> list[str]:
        everybodys = policy.may_manage_everybodys_keys(get_actor(request))
        return [name for name in self.list_display if everybodys or name != "user"]

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        if obj is None:
            return ["name", "expires_in_days", "scopes", "key_prefix"]
        times = ["show_created_at", "show_expires_at", "show_revoked_at", "show_last_used_at"]
        return ["prefix", "name", "user", "show_state", "show_scopes", *times]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        return [] if obj is None else self.get_fields(request, obj)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form = super().get_form(request, obj, change=change, **options)
        actor = get_actor(request)
        form.scope_choices = [
            (scope.value, f"{scope.value}: {scope.label}") for scope in Scope if policy.may_grant_scope(actor, scope)
        ]
        return form

    @display(description="Status", label=STATES)
    def show_state(self, key: ApiKey) -> str:
        return key.get_state(timezone.now())

    @display(description="Scopes")
    def show_scopes(self, key: ApiKey) -> str:
        return ", ".join(key.scopes)

    @display(description="Created at")
    def show_created_at(self, key: ApiKey) -> SafeString | None:
        return render_time(key.created_at)

    @display(description="Expires at")
    def show_expires_at(self, key: ApiKey) -> SafeString | None:
        return render_time(key.expires_at)

    @display(description="Revoked at")
    def show_revoked_at(self, key: ApiKey) -> SafeString | None:
        return render_time(key.revoked_at)

    @display(description="Last used at")
    def show_last_used_at(self, key: ApiKey) -> SafeString | None:
        return render_time(key.last_used_at)

    def create(self, actor: Actor, row: ApiKey, form: NewKeyForm) -> ApiKey:
        values = form.cleaned_data
        form.secret = services.create_api_key(
            actor=actor,
            email=selectors.get_user(actor, str(actor.user_id)).email,
            name=values["name"],
            scopes=[Scope(scope) for scope in values["scopes"]],
            expires_in_days=values["expires_in_days"],
            prefix=values["key_prefix"],
        )
        return selectors.get_api_key(actor, values["key_prefix"])

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        request.secret = form.secret  # type: ignore[attr-defined]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None) -> Any:
        """Offer one button: the key is shown after it is saved."""
        buttons = {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().add_view(request, form_url, {**(extra_context or {}), **buttons})

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None) -> HttpResponse:
        """Show the key in this response only: it is in no cookie, no session and no message."""
        context = {
            **self.admin_site.each_context(request),
            "title": "Your new API key",
            "opts": self.opts,
            "secret": request.secret,  # type: ignore[attr-defined]
        }
        response = TemplateResponse(request, "users/api_key_created.html", context)
        response["Cache-Control"] = "no-store"
        return response
