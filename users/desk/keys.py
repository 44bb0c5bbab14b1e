"""API keys in the admin site."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminIntegerFieldWidget

from contentapi.auth.sessions import get_actor
from contentapi.core.identity import Actor, Scope
from contentapi.desk.actions import Action, perform_each
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.forms import ServiceForm
from contentapi.desk.lists import build_state_filter
from contentapi.desk.rendering import build_column, build_time_column, list_scopes
from users import policy, selectors, services
from users.models import ApiKey


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

    class Meta:
        model = ApiKey
        fields = ["name"]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if "scopes" in self.fields:
            self.fields["scopes"].choices = list_scopes(self.actor)  # type: ignore[attr-defined]


STATES = {"valid": "success", "revoked": "danger", "expired": "warning"}
CHOICES = [(state, state.capitalize()) for state in STATES]
StateFilter = build_state_filter("status", "state", CHOICES, selectors.filter_keys_by_state)


@admin.register(ApiKey)
class ApiKeyAdmin(PolicyAdmin):
    """The API keys of the user who is logged in; for admins all. A key is shown once, when it is created."""

    desk_actions: ClassVar = [
        Action(
            name="revoke",
            label="Revoke",
            done="Revoked",
            help="Requests with the key are refused at once. A revoked key never becomes valid again.",
            perform=perform_each(services.revoke_api_key, "prefix", attribute="prefix"),
            is_permitted=lambda actor, key: policy.may_manage_keys_of(actor, key.user_id),
            is_offered=lambda key: key.revoked_at is None,
            confirmed_from=1,
            is_dangerous=True,
        )
    ]
    form = NewKeyForm
    shown_once_template = "users/api_key_created.html"
    list_display = ["prefix", "name", "show_state", "user", "show_expires_at", "show_last_used_at"]
    list_filter = [StateFilter]
    list_lookups = frozenset({"state"})
    sortable_by = ["prefix", "name"]
    search_fields = ["prefix__folded", "name__folded", "user__email__folded"]
    list_select_related = ["user"]
    ordering = ["-id"]

    may_open = may_add = staticmethod(lambda actor: policy.may_manage_keys_of(actor, actor.user_id))
    select_rows = staticmethod(selectors.select_api_keys)

    def may_see(self, actor: Actor, row: ApiKey) -> bool:
        return policy.may_manage_keys_of(actor, row.user_id)

    def describe_row(self, row: ApiKey) -> str:
        return f"“{row.name}”, of {row.user}"

    def get_list_display(self, request: HttpRequest) -> list[str]:
        manages_all = policy.may_manage_all_keys(get_actor(request))
        return [name for name in self.list_display if manages_all or name != "user"]

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        if obj is None:
            return ["name", "expires_in_days", "scopes", "key_prefix"]
        times = ["show_created_at", "show_expires_at", "show_revoked_at", "show_last_used_at"]
        return ["prefix", "name", "user", "show_state", "show_scopes", *times]

    show_state = build_column("Status", lambda key: key.get_state(timezone.now()), label=STATES)
    show_scopes = build_column("Scopes", lambda key: ", ".join(key.scopes))
    show_expires_at = build_time_column("expires_at", "Expires at")
    show_revoked_at = build_time_column("revoked_at", "Revoked at")
    show_last_used_at = build_time_column("last_used_at", "Last used at")

    def create(self, actor: Actor, row: ApiKey, form: NewKeyForm) -> ApiKey:
        values = form.cleaned_data
        row.secret_shown_once = services.create_api_key(  # type: ignore[attr-defined]
            actor=actor,
            email=selectors.get_user(actor, str(actor.user_id)).email,
            name=values["name"],
            scopes=[Scope(scope) for scope in values["scopes"]],
            expires_in_days=values["expires_in_days"],
            prefix=values["key_prefix"],
        )
        return selectors.get_api_key(actor, values["key_prefix"])
