"""The endpoints of the authorization server: HTML pages at /oauth/authorize, JSON at the others."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, QueryDict
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.encoding import iri_to_uri
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import View
from oauth2_provider.models import Application
from oauth2_provider.settings import oauth2_settings
from oauthlib.oauth2 import AccessDeniedError, FatalClientError, OAuth2Error

from contentapi.conf import conf
from contentapi.core.errors import Malformed, MethodNotAllowed, Unauthenticated, UnsupportedMediaType
from contentapi.core.pagination import parse_id
from contentapi.core.text import require_storable
from contentapi.desk.pages import render_page
from contentapi.http.client_address import client_address
from contentapi.http.documents import for_readers
from contentapi.http.error_response import django_error_response
from contentapi.http.request_log import classify_and_record
from contentapi.rate_limits.account import charge_limits
from contentapi.rate_limits.limits import TOKENS
from contentapi.rate_limits.middleware import handles_rate_limit
from users import tokens
from users.models import IssuedToken, User
from users.oauth.clients import authenticate_client
from users.oauth.server import ISSUER, SERVER, hash_token, list_usable_scopes, validate_authorization_parameters
from users.revocations import REVOCATIONS

FORM = "application/x-www-form-urlencoded"
WEB_SCHEMES = ("https", "http")
PARAMETERS = {
    "client_id", "client_secret", "code", "code_challenge", "code_challenge_method", "code_verifier", "grant_type",
    "redirect_uri", "refresh_token", "response_type", "scope", "state", "token", "token_type_hint",
}  # fmt: skip


@method_decorator(never_cache, name="dispatch")
class AuthorizeView(View):
    """Ask a user whether an application may act for them (RFC 6749, section 4.1.1)."""

    def dispatch(self, request: HttpRequest, *_: Any, **__: Any) -> HttpResponseBase:
        """Validate the parameters, which are in the URL only, before the user logs in."""
        self.uri = f"{request.path}?{urlencode(filter_parameters(request.GET))}"
        try:
            require_valid_parameters(request)
            scopes, details = SERVER.validate_authorization_request(self.uri)
            self.oauth_request = details["request"]
            validate_authorization_parameters(self.oauth_request)
        except OAuth2Error as error:
            return self.refuse(error)
        except Malformed as error:
            return render_refusal(request, error.message)
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        self.scopes = list_usable_scopes(request.user, scopes)
        return super().dispatch(request)

    def get(self, request: HttpRequest) -> HttpResponse:
        target = urlsplit(self.oauth_request.redirect_uri)
        meanings = [oauth2_settings.SCOPES[scope] for scope in self.scopes]
        is_web = target.scheme in WEB_SCHEMES
        goal = target.netloc if is_web else f"an application on this device ({target.scheme})"
        context = {"client": self.oauth_request.client, "goal": goal, "scopes": meanings}
        return render_page(request, "users/authorize.html", context, leads_to=build_source(target))

    def post(self, request: HttpRequest) -> HttpResponseBase:
        if request.POST.get("allow") != "yes":
            return self.refuse(AccessDeniedError(request=self.oauth_request))
        options = {"scopes": self.scopes, "credentials": {"user": request.user}}
        try:
            headers, *_ = SERVER.create_authorization_response(self.uri, **options)
        except OAuth2Error as error:
            return self.refuse(error)
        return redirect_to_client(request, headers["Location"])

    def refuse(self, error: OAuth2Error) -> HttpResponseBase:
        """Redirect to the application with the error. Show the error if the application or its URI is invalid."""
        if isinstance(error, FatalClientError) or not error.redirect_uri:
            return render_refusal(self.request, error.description or error.error)
        return redirect_to_client(self.request, error.in_uri(error.redirect_uri))


def redirect_to_client(request: HttpRequest, address: str) -> HttpResponse:
    """Redirect to an address of any scheme, whose query has the response. Add the issuer (RFC 9207, section 2)."""
    address = f"{address}&{urlencode({'iss': get_issuer(request)})}"
    return HttpResponse(status=HTTPStatus.FOUND, headers={"Location": iri_to_uri(address)})


def get_issuer(request: HttpRequest) -> str:
    """Return the issuer: CONTENTAPI_PUBLIC_URL or, without it, the origin of the request."""
    return conf.public_url or request.build_absolute_uri("/").removesuffix("/")


def build_source(target: SplitResult) -> str:
    """Return the source of a Content-Security-Policy for a redirect URI.

    A policy cannot name an IPv6 address, and a private-use scheme has no origin. The source is then the scheme alone.
    """
    has_origin = target.scheme in WEB_SCHEMES and not target.netloc.startswith("[")
    return f"{target.scheme}://{target.netloc}" if has_origin else f"{target.scheme}:"


def render_refusal(request: HttpRequest, message: str) -> HttpResponse:
    return render_page(request, "users/refused.html", {"message": message}, status=Malformed.status)


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
        except Malformed as error:
            response = refuse_request(error)
        except Exception as error:  # noqa: BLE001 - every error becomes a response
            response = django_error_response(error)
        for name, value in {**headers, "Cache-Control": "no-store"}.items():
            response[name] = value
        if response.status_code == Unauthenticated.status:
            response["WWW-Authenticate"] = 'Basic realm="contentapi"'
        return response

    return answer


def refuse_request(error: Malformed) -> HttpResponse:
    """Return the response to a malformed request, in the form that clients of OAuth read (RFC 6749, section 5.2)."""
    content = {"error": "invalid_request", "error_description": classify_and_record(error).message}
    return JsonResponse(content, status=error.status, headers={"X-Error-Code": error.code})


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


def filter_parameters(form: QueryDict) -> list[tuple[str, str]]:
    """Return the known parameters. oauthlib would use others, such as `client`, as attributes of its request."""
    return [(name, text) for name, texts in form.lists() if name in PARAMETERS for text in texts]


def ask_server(respond: Callable[..., Any], request: HttpRequest) -> HttpResponse:
    """Return the response of an endpoint of oauthlib's server, which gets the hash of an authorization code.

    A parameter without a value counts as omitted (RFC 6749, section 3.2).
    """
    sent_form = [(name, text) for name, text in filter_parameters(request.POST) if text]
    form = [(name, hash_token(text) if name == "code" else text) for name, text in sent_form]
    sent = {name: text for name, text in request.headers.items() if name == "Authorization"}
    try:
        headers, body, status = respond(request.path, "POST", urlencode(form), {**sent, ISSUER: get_issuer(request)})
    except OAuth2Error as error:
        headers, body, status = error.headers, error.json, error.status_code
    return HttpResponse(body, status=status, headers=headers)


@oauth_endpoint
def token_view(request: HttpRequest) -> HttpResponse:
    """Exchange a code or a refresh token for an access token and a new refresh token."""
    if not request.POST.get("grant_type"):
        raise Malformed("grant_type is missing.")
    return ask_server(SERVER.create_token_response, request)


@oauth_endpoint
def revoke_view(request: HttpRequest) -> HttpResponse:
    """Revoke a token and the tokens of its family (RFC 7009)."""
    return ask_server(SERVER.create_revocation_response, request)


@oauth_endpoint
def introspect_view(request: HttpRequest) -> HttpResponse:
    """Return the state of a token to an authenticated client (RFC 7662)."""
    form, header = request.POST, request.headers.get("Authorization")
    application = authenticate_client(header, form.get("client_id"), form.get("client_secret"))
    if application is None:
        return JsonResponse({"error": "invalid_client"}, status=Unauthenticated.status)
    presented = request.POST.get("token")
    if not presented:
        raise Malformed("token is missing.")
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


@for_readers
def metadata_view(request: HttpRequest) -> HttpResponse:
    """Return the metadata of the authorization server (RFC 8414)."""
    issuer, with_secret = get_issuer(request), ["client_secret_basic", "client_secret_post"]
    return JsonResponse(
        {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/oauth/authorize",
            "token_endpoint": f"{issuer}/oauth/token",
            "revocation_endpoint": f"{issuer}/oauth/revoke",
            "introspection_endpoint": f"{issuer}/oauth/introspect",
            "jwks_uri": f"{issuer}/.well-known/jwks.json",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": [*with_secret, "none"],
            "revocation_endpoint_auth_methods_supported": [*with_secret, "none"],
            "introspection_endpoint_auth_methods_supported": with_secret,
            "scopes_supported": sorted(oauth2_settings.SCOPES),
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": False,
            "protected_resources": [issuer],  # RFC 9728, section 4
        }
    )


@for_readers
def resource_metadata_view(request: HttpRequest) -> HttpResponse:
    """Return the metadata of the API as a protected resource (RFC 9728). `audience` is the `aud` of access tokens."""
    issuer = get_issuer(request)
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
