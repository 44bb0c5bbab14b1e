"""OAuth 2.0 in the admin site: registered applications, and the consents of users."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from oauth2_provider import admin as theirs
from oauth2_provider.models import Application, RefreshToken

from contentapi.auth.sessions import get_actor
from contentapi.core.identity import Actor
from contentapi.desk.actions import Action
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.forms import ServiceForm
from contentapi.desk.lists import RelatedFilter
from contentapi.desk.rendering import build_time_column
from users import policy
from users.oauth import clients
from users.oauth.server import record_revoked_consents

for name in ("application", "access_token", "grant", "id_token", "refresh_token"):
    admin.site.unregister(getattr(theirs, f"{name}_model"))


class ClientForm(ServiceForm):
    api_fields: ClassVar = {"redirect_uri": "redirect_uris"}

    class Meta:
        model = Application
        fields = ["name", "redirect_uris", "client_type"]
        help_texts = {
            "name": "The name that users see on the consent page.",
            "redirect_uris": "Where users are sent back to: https, one on each line, compared character for character. "
            "A public application may also have http://127.0.0.1/…, with any port, or a scheme of its own with a dot.",
            "client_type": "Confidential: an application with a server that keeps a secret. Public: one that cannot, "
            "in a browser or on a phone. Another type gives the application a new secret, or none.",
        }

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.initial["redirect_uris"] = "\n".join(self.instance.redirect_uris.split())
        # The check of django-oauth-toolkit knows no schemes of public clients only. The service has the rules.
        self.instance.clean = lambda: None

    def clean_redirect_uris(self) -> str:
        return " ".join(self.cleaned_data["redirect_uris"].split())


class NewSecretForm(forms.Form):
    """The confirmation of a new secret. A form creates one secret only: it brings the state of the application."""

    opened = forms.CharField(widget=forms.HiddenInput)


def renew_secret(actor: Actor, client: Application, values: Mapping[str, Any]) -> Application:
    """Give an application a new secret, which its row has until the response shows it."""
    secret = clients.renew_client_secret(actor=actor, client_id=str(client.pk), opened=values["opened"])
    client.secret_shown_once = secret
    return client


def may_manage(actor: Actor, _: Application) -> bool:
    return policy.may_manage_clients(actor)


@admin.register(Application)
class ClientAdmin(PolicyAdmin):
    desk_actions: ClassVar = [
        Action(
            name="renew-secret",
            label="New secret",
            done="Given a new secret",
            help="The application gets a new secret, which is shown once. The old one stops working at once: the "
            "application cannot exchange or renew tokens until it has the new one. What users have allowed and issued "
            "tokens stay.",
            perform=renew_secret,
            is_permitted=may_manage,
            is_offered=lambda client: client.client_type == Application.CLIENT_CONFIDENTIAL,
            form=NewSecretForm,
            read_initial=lambda client: {"opened": clients.describe_state(client)},
        ),
    ]
    form = ClientForm
    shown_once_template = "users/client_secret.html"
    list_display = ["name", "client_id", "client_type", "show_created_at"]
    readonly_fields = ["client_id", "show_created_at"]
    search_fields = ["name__folded", "client_id__folded"]
    ordering = ["name"]
    may_open = may_add = staticmethod(policy.may_manage_clients)
    select_rows = staticmethod(clients.select_clients)
    may_change = may_delete = staticmethod(may_manage)

    def get_fields(self, request: HttpRequest, obj: Application | None = None) -> list[str]:
        """Return the fields that have an effect here. The others of django-oauth-toolkit have constant values."""
        fields = ["name", "redirect_uris", "client_type"]
        return [*fields, *self.readonly_fields] if obj else fields

    show_created_at = build_time_column("created", "Created at")

    def save_model(self, request: HttpRequest, obj: Application, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        for warning in clients.list_redirect_uri_warnings(obj.redirect_uris.split()):
            self.message_user(request, warning, messages.WARNING)

    def create(self, actor: Actor, row: Application, form: ClientForm) -> Application:
        row.secret_shown_once = clients.save_client(row, actor)
        return row

    def edit(self, actor: Actor, row: Application, form: ClientForm) -> None:
        row.secret_shown_once = clients.save_client(row, actor, with_new_secret="client_type" in form.changed_data)

    def delete(self, actor: Actor, row: Application) -> None:
        clients.delete_client(actor=actor, client=row)

    def response_change(self, request: HttpRequest, obj: Application) -> HttpResponse:
        """Show the saved values again; first the secret, if there is a new one."""
        if obj.secret_shown_once:
            return self.show_secret(request, obj)
        self.message_user(request, f"“{obj.name}” was saved.", messages.SUCCESS)
        return HttpResponseRedirect(request.path)


# The words of the pages: people give an application access, and know nothing of tokens.
RefreshToken._meta.verbose_name = "connected application"  # noqa: SLF001
RefreshToken._meta.verbose_name_plural = "connected applications"  # noqa: SLF001


@admin.register(RefreshToken)
class ConsentAdmin(PolicyAdmin):
    """The consents of users, each a refresh token. Revoking one also revokes its access tokens."""

    list_display = ["user", "application", "show_created_at", "show_revoked_at"]
    list_filter = [("application", RelatedFilter)]
    list_lookups = frozenset({"application__id__exact"})
    list_select_related = ["user", "application"]
    search_fields = ["application__client_id__folded", "application__name__folded", "user__email__folded"]
    fields = readonly_fields = ["user", "application", "show_created_at", "show_revoked_at"]
    ordering = ["-id"]
    actions = ["revoke_tokens"]

    @admin.action(description="Disconnect the selected applications")
    @transaction.atomic
    def revoke_tokens(self, request: HttpRequest, queryset: QuerySet[RefreshToken]) -> None:
        record_revoked_consents(get_actor(request), queryset.filter(revoked=None))
        for token in queryset:
            token.revoke()
        number = len(queryset)
        self.message_user(request, f"{number} application{' was' if number == 1 else 's were'} disconnected.")

    may_open = staticmethod(policy.may_manage_clients)

    def select_rows(self, actor: Actor) -> QuerySet[RefreshToken]:
        tokens: QuerySet[RefreshToken] = RefreshToken.objects.all()
        return tokens if policy.may_manage_clients(actor) else tokens.none()

    show_created_at = build_time_column("created", "Created at")
    show_revoked_at = build_time_column("revoked", "Revoked at")
