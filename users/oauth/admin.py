"""The editors' desk for OAuth 2.0: which applications may ask users for access, and what users have allowed them."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from oauth2_provider import admin as theirs
from oauth2_provider.models import Application, RefreshToken

from users.oauth.clients import name_problems, new_client, redirect_problems

for model in (theirs.application_model, theirs.access_token_model, theirs.grant_model, theirs.id_token_model):
    admin.site.unregister(model)


class ClientForm(forms.ModelForm):
    class Meta:
        model = Application
        fields = ["name", "redirect_uris", "client_type"]
        help_texts = {
            "name": "What users are shown when they are asked.",
            "redirect_uris": "Where users are sent back to: https, separated by spaces or lines, compared character "
            "for character.",
            "client_type": "Public: an application that cannot keep a secret, in a browser or on a phone.",
        }

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        require_none(name_problems(name))
        return name

    def clean_redirect_uris(self) -> str:
        uris = self.cleaned_data["redirect_uris"].split()
        require_none(redirect_problems(uris))
        return " ".join(uris)


def require_none(problems: list[str]) -> None:
    if problems:
        raise forms.ValidationError(problems)


@admin.register(Application)
class ClientAdmin(admin.ModelAdmin):
    form = ClientForm
    list_display = ["name", "client_id", "client_type", "created"]
    search_fields = ["name", "client_id"]
    readonly_fields = ["client_id", "created"]

    def get_readonly_fields(self, request: HttpRequest, obj: Application | None = None) -> list[str]:
        return [*self.readonly_fields, "client_type"] if obj else self.readonly_fields

    def save_model(self, request: HttpRequest, obj: Application, form: Any, change: bool) -> None:
        """Register a new client, and show its secret for the only time."""
        if change:
            super().save_model(request, obj, form, change)
            return
        secret = new_client(obj)
        shown = (
            f"The secret of {obj.client_id}, shown this once: {secret}" if secret else "A public client has no secret."
        )
        messages.success(request, shown)


class ConsentAdmin(theirs.RefreshTokenAdmin):  # type: ignore[misc]
    """What a user has allowed an application, as long as it lasts; revoking it ends the access tokens too."""

    list_display = ["user", "application", "created", "revoked"]
    list_filter = ["application", "revoked"]

    def has_change_permission(self, request: HttpRequest, obj: RefreshToken | None = None) -> bool:
        return False


admin.site.unregister(RefreshToken)
admin.site.register(RefreshToken, ConsentAdmin)
