"""The endpoints of the authorization server: HTML pages at /oauth/authorize, JSON at the others."""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.encoding import iri_to_uri
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import View
from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError
from oauth2_provider.models import Application
from oauth2_provider.settings import oauth2_settings
from oauth2_provider.views import OAuthServerMetadataView
from oauth2_provider.views.mixins import OAuthLibMixin

from contentapi.core.errors import Malformed, MethodNotAllowed, Unauthenticated, UnsupportedMediaType
from contentapi.core.pagination import parse_id
from contentapi.core.text import require_storable
from contentapi.http.client_address import client_address
from contentapi.http.documents import for_readers
from contentapi.http.error_response import django_error_response
from contentapi.rate_limits.account import charge_limits
from contentapi.rate_limits.limits import TOKENS
from contentapi.rate_limits.middleware import handles_rate_limit
from users import tokens
from users.models import IssuedToken, User
from users.oauth.server import PARAMETERS, hash_token, list_usable_scopes
from users.pages import render_page
from users.revocations import REVOCATIONS

FORM = "application/x-www-form-urlencoded"
WEB_SCHEMES = ("https", "http")
CORE = OAuthLibMixin.get_oauthlib_core


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
        self.scopes = list_usable_scopes(request.user, scopes)
        return super().dispatch(request)

    def get(self, request: HttpRequest) -> HttpResponse:
        target = urlsplit(self.credentials["redirect_uri"])
        meanings = [oauth2_settings.SCOPES[scope] for scope in self.scopes]
        is_web = target.scheme in WEB_SCHEMES
        goal = target.netloc if is_web else f"an application on this device ({target.scheme})"
        context = {"client": self.application, "goal": goal, "scopes": meanings}
        return render_page(request, "authorize", context, leads_to=build_source(target))

    def post(self, request: HttpRequest) -> HttpResponseBase:
        names = ("client_id", "redirect_uri", "response_type", "state", "code_challenge", "code_challenge_method")
        try:
            address, *_ = self.create_authorization_response(
                request=request,
                scopes=" ".join(self.scopes),
                credentials={name: self.credentials.get(name) for name in names},
                allow=request.POST.get("allow") == "yes",
            )
        except OAuthToolkitError as error:
            return self.refuse(error)
        return redirect_to_client(address)

    def refuse(self, error: OAuthToolkitError) -> HttpResponseBase:
        """Redirect to the application with the error. Show the error if the application or its URI is invalid."""
        oauth_error = error.oauthlib_error
        if isinstance(error, FatalClientError) or not oauth_error.redirect_uri:
            return render_refusal(self.request, oauth_error.description or oauth_error.error)
        issuer = oauth2_settings.oauth2_authorization_server_issuer(self.request)  # RFC 9207, section 2
        return redirect_to_client(f"{oauth_error.in_uri(oauth_error.redirect_uri)}&{urlencode({'iss': issuer})}")


def redirect_to_client(address: str) -> HttpResponse:
    """Redirect to a registered redirect URI, whose scheme may be that of an application on a device."""
    return HttpResponse(status=HTTPStatus.FOUND, headers={"Location": iri_to_uri(address)})


def build_source(target: SplitResult) -> str:
    """Return the source of a Content-Security-Policy for a redirect URI.

    A policy cannot name an IPv6 address, and a private-use scheme has no origin. The source is then the scheme alone.
    """
    has_origin = target.scheme in WEB_SCHEMES and not target.netloc.startswith("[")
    return f"{target.scheme}://{target.netloc}" if has_origin else f"{target.scheme}:"


def render_refusal(request: HttpRequest, message: str) -> HttpResponse:
    return render_page(request, "refused", {"message": message}, status=Malformed.status)


def oauth_endpoint(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Decorate a view: it accepts forms by POST only, charges the rate limit and runs in a transaction."""

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
        except Exception as error:  # noqa: BLE001 - every error becomes a response
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
    if request.GET:  # URLs are written to logs
        raise Malformed("Send parameters in the body, not in the URL.")
    require_valid_parameters(request)


def require_valid_parameters(request: HttpRequest) -> None:
    """Raise `Malformed` for text that cannot be stored and for a repeated parameter (RFC 6749, section 3.1)."""
    for name, texts in [*request.GET.lists(), *request.POST.lists()]:
        require_storable([name, *texts])
        if len(texts) > 1 and name in PARAMETERS:
            raise Malformed(f"{name} must not be sent twice.")


@oauth_endpoint
def token_view(request: HttpRequest) -> HttpResponse:
    """Exchange a code or a refresh token for an access token and a new refresh token."""
    _, headers, body, status = CORE().create_token_response(request)
    return HttpResponse(body, status=status, headers=headers)


@oauth_endpoint
def revoke_view(request: HttpRequest) -> HttpResponse:
    """Revoke a token and the tokens of its family (RFC 7009)."""
    _, headers, body, status = CORE().create_revocation_response(request)
    return HttpResponse(body, status=status, headers=headers)


@oauth_endpoint
def introspect_view(request: HttpRequest) -> HttpResponse:
    """Return the state of a token to an authenticated client (RFC 7662)."""
    application = CORE().authenticate_client(request)
    if application is None:
        return JsonResponse({"error": "invalid_client"}, status=Unauthenticated.status)
    presented = request.POST.get("token")
    if not presented:
        missing = {"error": "invalid_request", "error_description": "token is missing."}
        return JsonResponse(missing, status=Malformed.status)
    return JsonResponse(build_introspection_response(presented, application))


def build_introspection_response(presented: str, application: Application) -> dict[str, Any]:
    """Return the claims of an active access token. For a refresh token, return only whether it is active."""
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


@for_readers
def metadata_view(request: HttpRequest) -> HttpResponse:
    """Return the metadata of the authorization server (RFC 8414)."""
    found = json.loads(SERVER_METADATA(request).content)
    issuer = found["issuer"]
    found["introspection_endpoint_auth_methods_supported"] = ["client_secret_basic", "client_secret_post"]
    found["protected_resources"] = [issuer]  # RFC 9728, section 4
    return JsonResponse({**found, "jwks_uri": f"{issuer}/.well-known/jwks.json"})


@for_readers
def resource_metadata_view(request: HttpRequest) -> HttpResponse:
    """Return the metadata of the API as a protected resource (RFC 9728). `audience` is the `aud` of access tokens."""
    issuer = oauth2_settings.oauth2_authorization_server_issuer(request)
    return JsonResponse(
        {
            "resource": issuer,
            "authorization_servers": [issuer],
            "scopes_supported": sorted(oauth2_settings.SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": "Content API",
            "resource_documentation": f"{issuer}/docs",
            "audience": tokens.AUDIENCE,
        }
    )
