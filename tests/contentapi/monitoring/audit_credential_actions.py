"""Actions on API keys, tokens, clients and consents, each with its event of the audit log."""

from io import StringIO
from typing import Any

from django.core.management import call_command
from django.urls import reverse
from msgspec import structs
from oauth2_provider.models import Application, RefreshToken

from contentapi.core.identity import OPERATOR
from contentapi.monitoring.audit import Audit as KernelAudit
from tests.admin_forms import submit_form
from tests.contentapi.monitoring.audit_scene import Action, Scene, causes
from tests.users.oauth.flow import Application as OAuthApplication
from tests.users.oauth.flow import Browser
from users import services as user_services
from users.audit import Audit
from users.models import ApiKey


def make_key(scene: Scene) -> ApiKey:
    key = user_services.create_api_key(actor=OPERATOR, email=scene.user.email, name="other")
    return ApiKey.objects.get(prefix=key.rpartition("_")[0])


@causes(Audit.API_KEY_CREATED, "command line")
def create_a_key_by_command(scene: Scene) -> Action:
    return lambda: scene.command("create_api_key", scene.user.email, "--name", "New")


@causes(Audit.API_KEY_CREATED, "admin")
def create_a_key_in_the_admin(scene: Scene) -> Action:
    return lambda: submit_form(scene.browser, reverse("admin:users_apikey_add"), name="New")


@causes(Audit.API_KEY_REVOKED, "command line")
def revoke_a_key_by_command(scene: Scene) -> Action:
    key = make_key(scene)
    return lambda: call_command("revoke_api_key", key.prefix, stderr=StringIO())


@causes(Audit.TOKEN_ISSUED, "command line")
def issue_a_token_by_command(scene: Scene) -> Action:
    return lambda: scene.command("issue_token", scene.user.email)


@causes(KernelAudit.JWT_KEY_ROTATED, "command line")
def rotate_the_keys_in_the_folder(scene: Scene) -> Action:
    scene.settings.VAR_DIR = scene.folder
    return lambda: call_command("rotate_jwt_key", stdout=StringIO())


@causes(KernelAudit.JWT_KEY_ROTATED, "command line")
def rotate_the_key_of_the_environment(scene: Scene) -> Action:
    secret = "a secret of thirty-two bytes, at least"
    scene.settings.ENVIRONMENT = structs.replace(scene.settings.ENVIRONMENT, jwt_secret=secret)
    return lambda: scene.command("rotate_jwt_key")


@causes(Audit.OAUTH_CLIENT_CREATED, "command line")
def register_a_client_by_command(scene: Scene) -> Action:
    arguments = ("create_oauth_client", "App", "--redirect-uri", "https://app.example.invalid/callback")
    return lambda: scene.command(*arguments)


@causes(Audit.OAUTH_CLIENT_CHANGED, "admin")
def rename_a_client(scene: Scene) -> Action:
    client = make_client()
    return lambda: scene.submit("oauth2_provider_application_change", client.pk, name="Other")


@causes(Audit.OAUTH_CLIENT_SECRET_RENEWED, "admin")
def renew_the_secret_of_a_client(scene: Scene) -> Action:
    client = make_client()
    page = "oauth2_provider_application"
    return lambda: scene.press(page, client.pk, "renew-secret", opened=client.updated.isoformat())


@causes(Audit.OAUTH_CLIENT_REVOKED, "admin")
def delete_a_client(scene: Scene) -> Action:
    client = make_client()
    return lambda: scene.submit("oauth2_provider_application_delete", client.pk, post="yes")


def make_client() -> Application:
    return Application.objects.get(client_id=OAuthApplication().registered.client_id)


@causes(Audit.OAUTH_CONSENT_GRANTED, "OAuth")
def grant_a_consent(scene: Scene) -> Action:
    application = make_application(scene)
    browser = Browser(scene.user)
    return lambda: scene.secrets.append(browser.obtain_code(application))


@causes(Audit.TOKEN_ISSUED, "OAuth")
def exchange_a_code(scene: Scene) -> Action:
    application = make_application(scene)
    code = Browser(scene.user).obtain_code(application)
    return lambda: keep_tokens(scene, application.exchange(code))


@causes(Audit.TOKEN_ISSUED, "OAuth")
def refresh_a_token(scene: Scene) -> Action:
    application, tokens = make_consent(scene)
    return lambda: keep_tokens(scene, application.refresh(tokens["refresh_token"]))


@causes(Audit.OAUTH_CONSENT_REVOKED, "OAuth")
def revoke_a_refresh_token(scene: Scene) -> Action:
    application, tokens = make_consent(scene)
    return lambda: application.post("/oauth/revoke", token=tokens["refresh_token"])


@causes(Audit.OAUTH_CONSENT_REVOKED, "OAuth")
def revoke_an_access_token(scene: Scene) -> Action:
    application, tokens = make_consent(scene)
    return lambda: application.post("/oauth/revoke", token=tokens["access_token"])


@causes(Audit.OAUTH_CONSENT_REVOKED, "admin", 2)
def revoke_selected_consents(scene: Scene) -> Action:
    make_consent(scene)
    make_consent(scene)
    ids = list(RefreshToken.objects.values_list("pk", flat=True))
    return lambda: scene.select("oauth2_provider_refreshtoken", "revoke_tokens", *ids)


@causes(Audit.OAUTH_TOKEN_REUSED, "OAuth")
def send_a_code_again(scene: Scene) -> Action:
    application = make_application(scene)
    code = Browser(scene.user).obtain_code(application)
    application.exchange(code)
    return lambda: application.exchange(code)


@causes(Audit.OAUTH_TOKEN_REUSED, "OAuth")
def send_a_refresh_token_again(scene: Scene) -> Action:
    application, tokens = make_consent(scene)
    application.refresh(tokens["refresh_token"])
    return lambda: application.refresh(tokens["refresh_token"])


def make_application(scene: Scene) -> OAuthApplication:
    environment = structs.replace(scene.settings.ENVIRONMENT, contentapi_rate_tokens="100000/minute")
    scene.settings.ENVIRONMENT = environment
    application = OAuthApplication()
    scene.secrets.append(application.registered.secret)
    return application


def make_consent(scene: Scene) -> tuple[OAuthApplication, dict[str, str]]:
    application = make_application(scene)
    response = application.exchange(Browser(scene.user).obtain_code(application))
    keep_tokens(scene, response)
    return application, response.json()


def keep_tokens(scene: Scene, response: Any) -> None:
    assert response.status_code == 200, response.content
    scene.secrets += [response.json()["access_token"], response.json()["refresh_token"]]
