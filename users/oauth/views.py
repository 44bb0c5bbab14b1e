"""The authorization server's endpoints: pages for people at /oauth/authorize, JSON for clients at the others."""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import View
from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError
from oauth2_provider.http import OAuth2ResponseRedirect
from oauth2_provider.models import Application
from oauth2_provider.settings import oauth2_settings
from oauth2_provider.views import OAuthServerMetadataView
from oauth2_provider.views.mixins import OAuthLibMixin
from oauthlib.common import add_params_to_uri

from contentapi.core.errors import Malformed, MethodNotAllowed, Unauthenticated, UnsupportedMediaType
from contentapi.core.identity import ROLE_SCOPES, Role
from contentapi.core.pagination import parse_id
from contentapi.core.text import is_storable
from contentapi.http.client_address import client_address
from contentapi.http.error_response import django_error_response, get_accept
from contentapi.rate_limits.account import charge_limits
from contentapi.rate_limits.limits import TOKENS
from contentapi.rate_limits.middleware import handles_rate_limit
from users import tokens
from users.models import IssuedToken, User
from users.oauth.server import PARAMETERS, hash_token
from users.pages import render_page
from users.revocations import REVOCATIONS

FORM = "application/x-www-form-urlencoded"
CORE = OAuthLibMixin.get_oauthlib_core


# --- Pages ----------------------------------------------------------------------------------------------


@method_decorator(never_cache, name="dispatch")
class AuthorizeView(OAuthLibMixin, View):  # type: ignore[misc]  # django-oauth-toolkit has no types
    """Ask a user whether an application may act for them (RFC 6749, section 4.1.1)."""

    def dispatch(self, request: HttpRequest, *_: Any, **__: Any) -> HttpResponseBase:
        """Validate the parameters, which are in the URL only, before the user logs in."""
        try:
            require_valid_parameters(request)
            scopes, credentials = self.validate_authorization_request(request)
        except OAuthToolkitError as error:
            return self.refuse(error)
        except Malformed as error:
            return render_refusal(request, error.message)
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        self.application = Application.objects.get(client_id=credentials["client_id"])
        self.credentials = credentials
        self.scopes = [scope for scope in scopes if scope in ROLE_SCOPES[Role(request.user.role)]]
        return super().dispatch(request)

    def get(self, request: HttpRequest) -> HttpResponse:
        goes_to = urlsplit(self.credentials["redirect_uri"])
        meanings = [oauth2_settings.SCOPES[scope] for scope in self.scopes]
        asked = {"client": self.application, "host": goes_to.netloc, "scopes": meanings}
        return render_page(request, "authorize", asked, leads_to=f"{goes_to.scheme}://{goes_to.netloc}")

    def post(self, request: HttpRequest) -> HttpResponseBase:
        named = ("client_id", "redirect_uri", "response_type", "state", "code_challenge", "code_challenge_method")
        try:
            address, *_ = self.create_authorization_response(
                request=request,
                scopes=" ".join(self.scopes),
                credentials={name: self.credentials.get(name) for name in named},
                allow=request.POST.get("allow") == "yes",
            )
        except OAuthToolkitError as error:
            return self.refuse(error)
        return redirect_to_client(address)

    def refuse(self, error: OAuthToolkitError) -> HttpResponseBase:
        """Send a refusal to the application, or show it where the application itself is in doubt."""
        oauth_error = error.oauthlib_error
        if isinstance(error, FatalClientError) or not oauth_error.redirect_uri:
            return render_refusal(self.request, oauth_error.description or oauth_error.error)
        issuer = oauth2_settings.oauth2_authorization_server_issuer(self.request)  # RFC 9207, section 2
        address = add_params_to_uri(oauth_error.redirect_uri, [*oauth_error.twotuples, ("iss", issuer)])
        return redirect_to_client(address)


def redirect_to_client(address: str) -> HttpResponse:
    response: HttpResponse = OAuth2ResponseRedirect(address, oauth2_settings.ALLOWED_REDIRECT_URI_SCHEMES)
    return response


def render_refusal(request: HttpRequest, message: str) -> HttpResponse:
    return render_page(request, "refused", {"message": message}, status=Malformed.status)


# --- Endpoints ------------------------------------------------------------------------------------------


def oauth_endpoint(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Make a view an endpoint for clients: POST of a form only, counted, atomic, never cached, never a 5xx by input."""

    @handles_rate_limit
    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        headers: Mapping[str, str] = {}
        try:
            headers = charge_limits(TOKENS, key=client_address(request.META))
            require_form_post(request)
            with transaction.atomic():
                response = view(request)
            REVOCATIONS.refresh()
        except Exception as error:  # noqa: BLE001 - the outermost edge
            response = django_error_response(error)
        for name, value in {**headers, "Cache-Control": "no-store"}.items():
            response[name] = value
        if response.status_code == Unauthenticated.status:
            response["WWW-Authenticate"] = 'Basic realm="contentapi"'
        return response

    return answer


def require_form_post(request: HttpRequest) -> None:
    if request.method != "POST":
        raise MethodNotAllowed(request.method or "", ["POST"])
    if request.content_type != FORM:
        raise UnsupportedMediaType(f"Send the request as {FORM}.")
    if request.GET:  # addresses end up in logs
        raise Malformed("Send parameters in the body, and none in the address.")
    require_valid_parameters(request)


def require_valid_parameters(request: HttpRequest) -> None:
    """Refuse what the database has no place for, and a parameter that is sent twice (RFC 6749, section 3.1)."""
    sent = [(name, texts) for form in (request.GET, request.POST) for name, texts in form.lists()]
    if not all(is_storable(text) for name, texts in sent for text in (name, *texts)):
        raise Malformed("Text must not contain the NUL character or lone surrogates.")
    if twice := [name for name, texts in sent if len(texts) > 1 and name in PARAMETERS]:
        raise Malformed(f"{twice[0]} must not be sent twice.")


@oauth_endpoint
def token_view(request: HttpRequest) -> HttpResponse:
    """Exchange a code, or a refresh token, for an access token and the next refresh token."""
    _, headers, body, status = CORE().create_token_response(request)
    return HttpResponse(body, status=status, headers=headers)


@oauth_endpoint
def revoke_view(request: HttpRequest) -> HttpResponse:
    """End a token, and with it what was issued beside it (RFC 7009)."""
    _, headers, body, status = CORE().create_revocation_response(request)
    return HttpResponse(body, status=status, headers=headers)


@oauth_endpoint
def introspect_view(request: HttpRequest) -> HttpResponse:
    """Tell a client with a secret what a token is worth (RFC 7662)."""
    application = CORE().authenticated_client(request)
    if application is None:
        return JsonResponse({"error": "invalid_client"}, status=Unauthenticated.status)
    presented = request.POST.get("token")
    if not presented:
        missing = {"error": "invalid_request", "error_description": "token is missing."}
        return JsonResponse(missing, status=Malformed.status)
    return JsonResponse(build_introspection_response(presented, application))


def build_introspection_response(presented: str, application: Application) -> dict[str, Any]:
    """Return what a token says, and that it is active; of a token that is not, nothing else."""
    claims = tokens.read_claims(presented)
    if claims is None:
        held = application.refreshtoken_set.filter(token_checksum=hash_token(presented), revoked=None)
        since = timezone.now() - timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
        return {"active": held.filter(user__is_active=True, access_token__expires__gt=since).exists()}
    revoked = IssuedToken.objects.all().revoked(timezone.now()).filter(jti=claims["jti"]).exists()
    if revoked or not User.objects.filter(pk=parse_id(claims["sub"]), is_active=True).exists():
        return {"active": False}
    return {"active": True, "token_type": "Bearer", **claims}


SERVER_METADATA = OAuthServerMetadataView.as_view()


@csrf_exempt  # so that a POST gets 405 with Allow
def metadata_view(request: HttpRequest) -> HttpResponse:
    """Tell a client what it needs to know of this server (RFC 8414)."""
    if request.method not in ("GET", "HEAD"):
        return django_error_response(MethodNotAllowed(request.method or "", ["GET", "HEAD"]), get_accept(request))
    found = json.loads(SERVER_METADATA(request).content)
    found["introspection_endpoint_auth_methods_supported"] = ["client_secret_basic", "client_secret_post"]
    return JsonResponse({**found, "jwks_uri": f"{found['issuer']}/.well-known/jwks.json"})
