"""OAuth 2.0 in the admin site: registered applications, and the consents of users."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from oauth2_provider import admin as theirs
from oauth2_provider.models import Application, RefreshToken

from users.oauth.clients import list_name_problems, list_redirect_uri_problems, save_new_client
from users.pages import render_page

for model in (theirs.application_model, theirs.access_token_model, theirs.grant_model, theirs.id_token_model):
    admin.site.unregister(model)


class ClientForm(forms.ModelForm):
    class Meta:
        model = Application
        fields = ["name", "redirect_uris", "client_type"]
        help_texts = {
            "name": "The name that users see on the consent page.",
            "redirect_uris": "Where users are sent back to: https, separated by spaces or lines, compared character "
            "for character.",
            "client_type": "Public: an application that cannot keep a secret, in a browser or on a phone.",
        }

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        raise_form_errors(list_name_problems(name))
        return name

    def clean_redirect_uris(self) -> str:
        uris = self.cleaned_data["redirect_uris"].split()
        raise_form_errors(list_redirect_uri_problems(uris))
        return " ".join(uris)


def raise_form_errors(problems: list[str]) -> None:
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
        if change:
            super().save_model(request, obj, form, change)
        else:
            obj.secret_shown_once = save_new_client(obj)

    def response_add(
        self, request: HttpRequest, obj: Application, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show a new client's secret in this response only: it is in no cookie and no session."""
        response = render_page(request, "client_secret", {"client": obj, "secret": obj.secret_shown_once})
        response["Cache-Control"] = "no-store"
        return response


class OAuthRefreshTokenAdmin(theirs.RefreshTokenAdmin):  # type: ignore[misc]
    """The consents of users, each a refresh token. Revoking one also revokes its access tokens."""

    list_display = ["user", "application", "created", "revoked"]
    list_filter = ["application", "revoked"]

    def has_change_permission(self, request: HttpRequest, obj: RefreshToken | None = None) -> bool:
        return False


admin.site.unregister(RefreshToken)
admin.site.register(RefreshToken, OAuthRefreshTokenAdmin)
