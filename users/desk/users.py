"""Users in the admin site."""

from copy import copy
from functools import partial
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import BooleanRadioFilter, ChoicesDropdownFilter
from unfold.forms import AdminPasswordChangeForm, UserCreationForm

from contentapi.auth.sessions import get_actor
from contentapi.core.identity import Actor
from contentapi.desk.actions import Action, perform_each
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.forms import ServiceForm
from contentapi.desk.rendering import build_column, build_time_column
from users import password_links, policy, selectors, services
from users.mail import is_mail_on
from users.models import User

STATES = {"active": "success", "locked": "danger"}
INVITED = "Or press “Invite”: the person gets a mail with a link, at which the person chooses a password."
INVITE = "_invite"  # the name of the button


class NewUserForm(ServiceForm, UserCreationForm):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if is_mail_on():
            self.fields["password1"].help_text = INVITED

    def clean_usable_password(self) -> str:
        """Return whether the account gets the password of the form, as Django's form reads it."""
        return "false" if INVITE in self.data and is_mail_on() else "true"

    class Meta:
        model = User
        fields = ["email", "name", "role"]


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


def render_password(user: User) -> SafeString:
    state, action = ("Set", "Change it") if user.has_usable_password() else ("None", "Set one")
    return format_html('{}. <a class="history-link" href="../password/">{}</a>', state, action)


@admin.register(User)
class UserAdmin(PolicyAdmin, DjangoUserAdmin):
    """The accounts. A new role takes effect at once: tokens that were issued for the old role are revoked."""

    desk_actions: ClassVar = [
        Action(
            name="lock",
            label="Lock",
            done="Locked",
            help="The user cannot log in, and API keys and tokens are refused. Posts, comments and orders stay.",
            perform=perform_each(services.lock_user, "user_id"),
            is_permitted=may_manage,
            is_offered=lambda user: user.is_active,
            confirmed_from=1,
            is_dangerous=True,
        ),
        Action(
            name="unlock",
            label="Unlock",
            done="Unlocked",
            help="The user can log in again, and the API keys are valid again.",
            perform=perform_each(services.unlock_user, "user_id"),
            is_permitted=may_manage,
            is_offered=lambda user: not user.is_active,
        ),
        Action(
            name="invite",
            label="Invite",
            done="Invited",
            help="The user gets a mail with a link, at which the user chooses a password.",
            perform=perform_each(password_links.invite_user, "user_id"),
            is_permitted=may_manage,
            is_offered=lambda user: is_mail_on() and user.is_active and not user.has_usable_password(),
        ),
    ]
    form = ServiceForm
    add_form = NewUserForm
    list_display = ["email", "name", "role", "show_state", "show_last_login"]
    list_filter = [("role", ChoicesDropdownFilter), ("is_active", BooleanRadioFilter)]
    list_lookups = frozenset({"role__exact", "is_active__exact"})
    sortable_by = ["email", "name"]
    search_fields = ["email__folded", "name__folded"]
    ordering = ["email"]
    filter_horizontal = []
    readonly_fields = ["show_password", "show_state", "show_last_login", "show_created_at"]
    fieldsets = [
        (None, {"fields": ["email", "name", "role", "show_password", "show_state"]}),
        ("Times", {"fields": ["show_created_at", "show_last_login"]}),
    ]
    add_fieldsets = [(None, {"fields": ["email", "name", "role", "password1", "password2"]})]
    may_open = may_add = staticmethod(policy.may_manage_users)
    select_rows = staticmethod(lambda actor: selectors.select_users(actor).queryset())
    may_change = staticmethod(may_manage)

    def may_see(self, actor: Actor, row: User) -> bool:
        return policy.may_see_user(actor, row.pk)

    def may_delete(self, actor: Actor, row: User | None) -> bool:
        return policy.may_manage_users(actor) if row is None else policy.may_delete_user(actor, row.pk)

    def list_actions(self, request: HttpRequest) -> list[Action]:
        return [each for each in super().list_actions(request) if is_mail_on() or each.name != "invite"]

    show_state = build_column("Status", lambda user: "active" if user.is_active else "locked", label=STATES)
    show_password = build_column("Password", render_password)
    show_last_login = build_time_column("last_login", "Last login at", ordering="last_login")

    def count_dependents(self, rows: list[Any]) -> dict[str, int]:
        return {"API keys": selectors.count_api_keys(rows)}

    def build_form_context(self, request: HttpRequest, row: User | None) -> dict[str, Any]:
        return {"may_invite": row is None and is_mail_on()}

    def create(self, actor: Actor, row: User, form: NewUserForm) -> User:
        values = form.cleaned_data
        password = values["password1"] if values["set_usable_password"] else None
        person = {name: values[name] for name in ("email", "name", "role")}
        user = services.create_user(actor=actor, password=password, **person)
        if password is None and is_mail_on():
            password_links.invite_user(actor=actor, user_id=str(user.pk))
        return user

    def edit(self, actor: Actor, row: User, form: ServiceForm) -> None:
        names = form.fields.keys() & services.EDITABLE
        changes = {name: form.cleaned_data[name] for name in names}
        services.edit_user(actor=actor, user_id=str(row.pk), changes=changes)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002
        """Show and save the form of a password. The copy of this admin has a form that knows who sends it."""
        admin = copy(self)
        admin.change_password_form = partial(PasswordForm, get_actor(request))
        return self.show_error(request, lambda: super(UserAdmin, admin).user_change_password(request, id, form_url))

    delete = staticmethod(lambda actor, row: services.delete_user(actor=actor, user_id=str(row.pk)))
