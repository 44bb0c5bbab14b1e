"""The audit log: for each event the acts that cause it, through every interface, and the line that each act writes.

An act is a function that prepares what it needs and returns the function that does it.
"""

import json
import logging
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from threading import Event as Flag
from typing import Any, NamedTuple

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from msgspec import structs
from oauth2_provider.models import Application, RefreshToken
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from blog import moderation, services
from blog.files import jobs, undoing
from blog.files.job_worker import ImportWorker
from blog.history import trash
from blog.models import CommentState, ImportJob, ImportState, Post, PostStatus, PostVersion
from contentapi import settings as project
from contentapi.core.errors import Conflict
from contentapi.core.identity import CLOCK, OPERATOR, Role
from contentapi.monitoring.audit import Event
from contentapi.monitoring.records import current_record
from orders import services as orders
from orders.models import OrderStatus
from tests.admin_forms import submit_form
from tests.blog.markdown_files import build_file
from tests.blog.test_archives import build_archive
from tests.factories import make_author, make_comment, make_order, make_post, make_user
from tests.users.oauth.flow import PASSWORD, Browser, make_member
from tests.users.oauth.flow import Application as OAuthApplication
from users import services as user_services
from users.authentication import build_session_actor
from users.models import ApiKey, User

ROOT = Path(__file__).resolve().parents[3]
LATER = "2100-01-01T00:00:00Z"
EMAIL = re.compile(rb"[\w.]+@[\w.]+")


class Lines(logging.Handler):
    """Collects the lines of the audit log: the fields of each record, with the request id at that time."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: list[dict[str, Any]] = []
        self.request_ids: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        assert record.levelno == logging.INFO
        fields: dict[str, Any] = vars(record)["fields"]
        assert record.getMessage() == fields["event"]
        self.fields.append(fields)
        self.request_ids.append(current_record.get().id)

    @property
    def events(self) -> list[str]:
        return [fields["event"] for fields in self.fields]


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler, logger = Lines(), logging.getLogger("contentapi.audit")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


class Scene:
    """An admin, who acts by an API key, by the admin site or as an actor."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.user = make_user(Role.ADMIN)
        make_user(Role.ADMIN)  # the last admin cannot be deleted
        self.key = user_services.create_api_key(actor=OPERATOR, email=self.user.email, name="test")
        self.browser = Client()
        self.browser.force_login(self.user)
        self.secrets = [self.key, PASSWORD]

    def request(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"X-API-Key": self.key}
        response = Client().generic(method, path, encode(body), content_type="application/json", headers=headers)
        assert response.status_code < 300, response.content
        return response

    def gql(self, mutation: str) -> None:
        response = self.request("POST", "/graphql", {"query": f"mutation {{ {mutation} }}"})
        assert "errors" not in response.json(), response.json()

    def press(self, page: str, row_id: object, act: str, **values: str) -> None:
        response = self.browser.post(reverse(f"admin:{page}_act", args=[row_id, act]), values)
        assert response.status_code in (200, 302)

    def select(self, page: str, action: str, *ids: object, **more: str) -> None:
        """Do an action to rows of a list."""
        form = {"action": action, "_selected_action": [str(row_id) for row_id in ids], **more}
        response = self.browser.post(reverse(f"admin:{page}_changelist"), form)
        assert response.status_code == 302, response.content

    def submit(self, page: str, /, *arguments: object, **edits: str) -> None:
        response = submit_form(self.browser, reverse(f"admin:{page}", args=arguments), **edits)
        assert response.status_code == 302 or "secret" in response.context, response.content

    def command(self, *arguments: str) -> None:
        output = StringIO()
        call_command(*arguments, stdout=output, stderr=StringIO())
        printed = output.getvalue().splitlines()
        self.secrets += printed[1:] or printed  # a client id is before its secret


def encode(body: Any) -> bytes:
    return b"" if body is None else json.dumps(body).encode()


Act = Callable[[], object]
Prepare = Callable[[Scene], Act]


class Case(NamedTuple):
    event: Event
    interface: str
    prepare: Prepare
    number: int = 1

    def __str__(self) -> str:
        return f"{self.event}-{self.prepare.__name__}"


CASES: list[Case] = []


def causes(event: Event, interface: str, number: int = 1) -> Callable[[Prepare], Prepare]:
    def add(prepare: Prepare) -> Prepare:
        CASES.append(Case(event, interface, prepare, number))
        return prepare

    return add


# --- Login ---------------------------------------------------------------------------------------------


def log_in(path: str, password: str, email: str = "") -> Act:
    user = make_member("admin")
    form = {"username": email or user.email, "password": password}
    return lambda: Client().post(path, form)


@causes(Event.LOGIN_SUCCEEDED, "admin")
def log_in_to_the_admin(_: Scene) -> Act:
    return log_in("/admin/login/", PASSWORD)


@causes(Event.LOGIN_SUCCEEDED, "OAuth")
def log_in_at_the_oauth_page(_: Scene) -> Act:
    return log_in("/oauth/login", PASSWORD)


@causes(Event.LOGIN_FAILED, "admin")
def send_a_wrong_password(_: Scene) -> Act:
    return log_in("/admin/login/", "wrong")


@causes(Event.LOGIN_FAILED, "OAuth")
def send_an_unknown_name(_: Scene) -> Act:
    return log_in("/oauth/login", PASSWORD, "nobody@example.invalid")


@causes(Event.LOGIN_FAILED, "admin")
def log_in_to_the_admin_as_a_reader(_: Scene) -> Act:
    reader = make_member("reader")
    return log_in("/admin/login/", PASSWORD, reader.email)


@causes(Event.LOGIN_FAILED, "admin")
def log_in_over_the_limit(scene: Scene) -> Act:
    scene.settings.ENVIRONMENT = structs.replace(scene.settings.ENVIRONMENT, contentapi_rate_login="1/minute")
    user = make_member("admin")
    Client().post("/admin/login/", {"username": user.email, "password": "wrong"})
    return lambda: Client().post("/admin/login/", {"username": user.email, "password": PASSWORD})


@causes(Event.LOGOUT, "admin")
def log_out_of_the_admin(scene: Scene) -> Act:
    return lambda: scene.browser.post(reverse("admin:logout"))


@causes(Event.LOGOUT, "OAuth")
def log_out_at_the_oauth_page(scene: Scene) -> Act:
    return lambda: scene.browser.post("/oauth/logout")


# --- Users ---------------------------------------------------------------------------------------------


@causes(Event.USER_CREATED, "REST")
def create_a_user_by_rest(scene: Scene) -> Act:
    return lambda: scene.request("POST", "/users", {"name": "New", "email": "new@example.invalid"})


@causes(Event.USER_CREATED, "admin")
def create_a_user_in_the_admin(scene: Scene) -> Act:
    values = {"email": "new@example.invalid", "name": "New", "role": "reader", "usable_password": "false"}
    return lambda: scene.submit("users_user_add", **values)


@causes(Event.USER_CREATED, "command line")
def create_a_user_by_command(scene: Scene) -> Act:
    return lambda: scene.command("create_user", "new@example.invalid", "--name", "New")


@causes(Event.USER_CREATED, "command line")
def create_a_superuser(scene: Scene) -> Act:
    return lambda: scene.command("createsuperuser", "--noinput", "--email=new@example.invalid", "--name=New")


@causes(Event.USER_CHANGED, "admin")
def rename_a_user(scene: Scene) -> Act:
    user = make_user()
    return lambda: scene.submit("users_user_change", user.pk, name="Other", email="other@example.invalid")


@causes(Event.USER_ROLE_CHANGED, "admin")
def change_a_role(scene: Scene) -> Act:
    user = make_user()
    return lambda: scene.submit("users_user_change", user.pk, role="editor")


@causes(Event.USER_LOCKED, "admin")
def lock_a_user(scene: Scene) -> Act:
    user = make_user()
    return lambda: scene.press("users_user", user.pk, "lock")


@causes(Event.USER_LOCKED, "admin", 2)
def lock_selected_users(scene: Scene) -> Act:
    users = [make_user(), make_user()]
    return lambda: scene.select("users_user", "lock", *[user.pk for user in users])


@causes(Event.USER_UNLOCKED, "admin")
def unlock_a_user(scene: Scene) -> Act:
    user = make_user(is_active=False)
    return lambda: scene.press("users_user", user.pk, "unlock")


@causes(Event.USER_LOCKED, "command line")
def lock_a_user_as_operator(_: Scene) -> Act:
    user = make_user()
    return lambda: user_services.lock_user(actor=OPERATOR, user_id=str(user.pk))


@causes(Event.USER_PASSWORD_CHANGED, "admin")
def set_the_password_of_a_user(scene: Scene) -> Act:
    user = make_user()
    values = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    return lambda: scene.submit("auth_user_password_change", user.pk, **values)


@causes(Event.USER_PASSWORD_CHANGED, "admin")
def change_the_own_password(_: Scene) -> Act:
    user = make_member("admin")
    browser = Client()
    browser.force_login(user)
    new = f"{PASSWORD}, changed"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    return lambda: browser.post(reverse("admin:password_change"), form)


@causes(Event.USER_DELETED, "REST")
def delete_a_user_by_rest(scene: Scene) -> Act:
    user = make_user()
    return lambda: scene.request("DELETE", f"/users/{user.pk}")


@causes(Event.USER_DELETED, "admin", 2)
def delete_selected_users(scene: Scene) -> Act:
    users = [make_user(), make_user()]
    return lambda: scene.select("users_user", "delete_selected", *[user.pk for user in users], post="yes")


# --- Credentials ---------------------------------------------------------------------------------------


def make_key(scene: Scene) -> ApiKey:
    key = user_services.create_api_key(actor=OPERATOR, email=scene.user.email, name="other")
    return ApiKey.objects.get(prefix=key.rpartition("_")[0])


@causes(Event.API_KEY_CREATED, "command line")
def create_a_key_by_command(scene: Scene) -> Act:
    return lambda: scene.command("create_api_key", scene.user.email, "--name", "New")


@causes(Event.API_KEY_CREATED, "admin")
def create_a_key_in_the_admin(scene: Scene) -> Act:
    return lambda: submit_form(scene.browser, reverse("admin:users_apikey_add"), name="New")


@causes(Event.API_KEY_REVOKED, "command line")
def revoke_a_key_by_command(scene: Scene) -> Act:
    key = make_key(scene)
    return lambda: call_command("revoke_api_key", key.prefix, stderr=StringIO())


@causes(Event.API_KEY_REVOKED, "admin", 2)
def revoke_selected_keys(scene: Scene) -> Act:
    keys = [make_key(scene), make_key(scene)]
    return lambda: scene.select("users_apikey", "revoke", *[key.pk for key in keys])


@causes(Event.TOKEN_ISSUED, "command line")
def issue_a_token_by_command(scene: Scene) -> Act:
    return lambda: scene.command("issue_token", scene.user.email)


@causes(Event.JWT_KEY_ROTATED, "command line")
def rotate_the_keys_in_the_folder(scene: Scene) -> Act:
    scene.settings.VAR_DIR = scene.folder
    return lambda: call_command("rotate_jwt_key", stdout=StringIO())


@causes(Event.JWT_KEY_ROTATED, "command line")
def rotate_the_key_of_the_environment(scene: Scene) -> Act:
    secret = "a secret of thirty-two bytes, at least"
    scene.settings.ENVIRONMENT = structs.replace(scene.settings.ENVIRONMENT, jwt_secret=secret)
    return lambda: scene.command("rotate_jwt_key")


@causes(Event.OAUTH_CLIENT_CREATED, "command line")
def register_a_client_by_command(scene: Scene) -> Act:
    arguments = ("create_oauth_client", "App", "--redirect-uri", "https://app.example.invalid/callback")
    return lambda: scene.command(*arguments)


@causes(Event.OAUTH_CLIENT_CREATED, "admin")
def register_a_client_in_the_admin(scene: Scene) -> Act:
    values = {"name": "App", "redirect_uris": "https://app.example.invalid/callback", "client_type": "public"}
    return lambda: scene.submit("oauth2_provider_application_add", **values)


@causes(Event.OAUTH_CLIENT_CHANGED, "admin")
def rename_a_client(scene: Scene) -> Act:
    client = make_client()
    return lambda: scene.submit("oauth2_provider_application_change", client.pk, name="Other")


@causes(Event.OAUTH_CLIENT_SECRET_RENEWED, "admin")
def renew_the_secret_of_a_client(scene: Scene) -> Act:
    client = make_client()
    page = "oauth2_provider_application"
    return lambda: scene.press(page, client.pk, "renew-secret", opened=client.updated.isoformat())


@causes(Event.OAUTH_CLIENT_REVOKED, "admin")
def delete_a_client(scene: Scene) -> Act:
    client = make_client()
    return lambda: scene.submit("oauth2_provider_application_delete", client.pk, post="yes")


@causes(Event.OAUTH_CLIENT_REVOKED, "admin", 2)
def delete_selected_clients(scene: Scene) -> Act:
    ids = [make_client().pk, make_client().pk]
    return lambda: scene.select("oauth2_provider_application", "delete_selected", *ids, post="yes")


def make_client() -> Application:
    return Application.objects.get(client_id=OAuthApplication().registered.client_id)


@causes(Event.OAUTH_CONSENT_GRANTED, "OAuth")
def grant_a_consent(scene: Scene) -> Act:
    application = make_application(scene)
    browser = Browser(scene.user)
    return lambda: scene.secrets.append(browser.obtain_code(application))


@causes(Event.TOKEN_ISSUED, "OAuth")
def exchange_a_code(scene: Scene) -> Act:
    application = make_application(scene)
    code = Browser(scene.user).obtain_code(application)
    return lambda: keep_tokens(scene, application.exchange(code))


@causes(Event.TOKEN_ISSUED, "OAuth")
def refresh_a_token(scene: Scene) -> Act:
    application, tokens = make_consent(scene)
    return lambda: keep_tokens(scene, application.refresh(tokens["refresh_token"]))


@causes(Event.OAUTH_CONSENT_REVOKED, "OAuth")
def revoke_a_refresh_token(scene: Scene) -> Act:
    application, tokens = make_consent(scene)
    return lambda: application.post("/oauth/revoke", token=tokens["refresh_token"])


@causes(Event.OAUTH_CONSENT_REVOKED, "OAuth")
def revoke_an_access_token(scene: Scene) -> Act:
    application, tokens = make_consent(scene)
    return lambda: application.post("/oauth/revoke", token=tokens["access_token"])


@causes(Event.OAUTH_CONSENT_REVOKED, "admin", 2)
def revoke_selected_consents(scene: Scene) -> Act:
    make_consent(scene)
    make_consent(scene)
    ids = list(RefreshToken.objects.values_list("pk", flat=True))
    return lambda: scene.select("oauth2_provider_refreshtoken", "revoke_tokens", *ids)


@causes(Event.OAUTH_TOKEN_REUSED, "OAuth")
def send_a_code_again(scene: Scene) -> Act:
    application = make_application(scene)
    code = Browser(scene.user).obtain_code(application)
    application.exchange(code)
    return lambda: application.exchange(code)


@causes(Event.OAUTH_TOKEN_REUSED, "OAuth")
def send_a_refresh_token_again(scene: Scene) -> Act:
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


# --- Posts, comments, authors --------------------------------------------------------------------------


@causes(Event.POST_PUBLISHED, "GraphQL")
def publish_a_post_by_graphql(scene: Scene) -> Act:
    post = make_post(status="draft")
    return lambda: scene.gql(f'publishPost(id: "{post.pk}") {{ id }}')


@causes(Event.POST_PUBLISHED, "GraphQL")
def create_a_published_post(scene: Scene) -> Act:
    return lambda: scene.gql('createPost(input: {title: "New", body: "Text", status: published}) { id }')


@causes(Event.POST_PUBLISHED, "REST")
def publish_a_post_by_rest(scene: Scene) -> Act:
    post = make_post(status="draft")
    return lambda: scene.request("PATCH", f"/posts/{post.pk}", {"status": "published"})


@causes(Event.POST_PUBLISHED, "admin")
def publish_a_post_in_the_admin(scene: Scene) -> Act:
    post = make_post(status="draft")
    return lambda: scene.submit("blog_post_change", post.pk, _act="publish")


@causes(Event.POST_PUBLISHED, "command line")
def publish_a_due_post_by_command(scene: Scene) -> Act:
    make_due_post()
    return lambda: scene.command("publish_due")


@causes(Event.POST_PUBLISHED, "clock")
def publish_a_due_post_by_the_clock(_: Scene) -> Act:
    make_due_post()
    return lambda: list(services.publish_due_posts(actor=CLOCK))


def make_due_post() -> None:
    make_post(status=PostStatus.SCHEDULED, publish_at=timezone.now() - timedelta(minutes=1))


@causes(Event.POST_SCHEDULED, "GraphQL")
def schedule_a_post(scene: Scene) -> Act:
    post = make_post(status="draft")
    return lambda: scene.gql(f'schedulePost(input: {{id: "{post.pk}", publishAt: "{LATER}"}}) {{ id }}')


@causes(Event.POST_UNPUBLISHED, "GraphQL")
def unpublish_a_post(scene: Scene) -> Act:
    post = make_post()
    return lambda: scene.gql(f'unpublishPost(id: "{post.pk}") {{ id }}')


@causes(Event.POST_ARCHIVED, "REST")
def archive_a_post(scene: Scene) -> Act:
    post = make_post()
    return lambda: scene.request("PATCH", f"/posts/{post.pk}", {"status": "archived"})


@causes(Event.POST_ARCHIVED, "admin", 2)
def archive_selected_posts(scene: Scene) -> Act:
    posts = f"{make_post().pk},{make_post().pk}"
    return lambda: scene.browser.post(reverse("admin:blog_post_bulk", args=["archive"]), {"posts": posts})


@causes(Event.POST_UNARCHIVED, "GraphQL")
def take_a_post_out_of_the_archive(scene: Scene) -> Act:
    post = make_post(status="archived")
    return lambda: scene.gql(f'unpublishPost(id: "{post.pk}") {{ id }}')


@causes(Event.POST_DELETED, "GraphQL")
def delete_a_post_by_graphql(scene: Scene) -> Act:
    post = make_post()
    return lambda: scene.gql(f'deletePost(id: "{post.pk}")')


@causes(Event.POST_DELETED, "REST")
def delete_a_post_by_rest(scene: Scene) -> Act:
    post = make_post()
    return lambda: scene.request("DELETE", f"/posts/{post.pk}")


@causes(Event.POST_DELETED, "admin", 2)
def delete_selected_posts(scene: Scene) -> Act:
    posts = f"{make_post().pk},{make_post().pk}"
    return lambda: scene.browser.post(reverse("admin:blog_post_bulk", args=["delete_selected"]), {"posts": posts})


@causes(Event.POST_RESTORED, "admin")
def restore_a_deleted_post(scene: Scene) -> Act:
    post = make_post()
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    return lambda: scene.browser.post(reverse("admin:blog_post_restore_deleted", args=[post.pk or 0]))


@causes(Event.POST_HISTORY_PURGED, "clock")
def purge_the_history(_: Scene) -> Act:
    post = make_post()
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    PostVersion.objects.update(pgh_created_at=timezone.now() - timedelta(days=60))
    return lambda: trash.purge_history(actor=CLOCK)


@causes(Event.COMMENT_DELETED, "GraphQL")
def delete_a_comment_by_graphql(scene: Scene) -> Act:
    comment = make_comment(make_post())
    return lambda: scene.gql(f'deleteComment(id: "{comment.pk}")')


@causes(Event.COMMENT_DELETED, "REST")
def delete_a_comment_by_rest(scene: Scene) -> Act:
    comment = make_comment(make_post())
    return lambda: scene.request("DELETE", f"/posts/{comment.post_id}/comments/{comment.pk}")


@causes(Event.COMMENT_DELETED, "admin", 2)
def delete_selected_comments(scene: Scene) -> Act:
    comments = [make_comment(make_post()), make_comment(make_post())]
    return lambda: scene.select("blog_comment", "delete", *[comment.pk for comment in comments])


@causes(Event.COMMENT_HIDDEN, "admin")
def hide_a_comment(scene: Scene) -> Act:
    comment = make_comment(make_post())
    return lambda: scene.press("blog_comment", comment.pk, "hide")


@causes(Event.COMMENT_SHOWN, "admin")
def show_a_comment(scene: Scene) -> Act:
    comment = make_comment(make_post(), state=CommentState.HIDDEN, state_changed_at=timezone.now())
    return lambda: scene.press("blog_comment", comment.pk, "show")


@causes(Event.COMMENT_RESTORED, "admin")
def restore_a_comment(scene: Scene) -> Act:
    comment = make_comment(make_post(), state=CommentState.DELETED, state_changed_at=timezone.now())
    return lambda: scene.press("blog_comment", comment.pk, "restore")


@causes(Event.COMMENT_PURGED, "clock")
def purge_deleted_comments(_: Scene) -> Act:
    make_comment(make_post(), state=CommentState.DELETED, state_changed_at=timezone.now() - timedelta(days=31))
    return lambda: moderation.purge_comments(actor=CLOCK)


@causes(Event.AUTHOR_DELETED, "admin")
def delete_an_author(scene: Scene) -> Act:
    author = make_author()
    return lambda: scene.submit("blog_author_delete", author.pk, post="yes")


# --- Imports -------------------------------------------------------------------------------------------


def upload(scene: Scene) -> ImportJob:
    actor = build_session_actor(scene.user)
    files: dict[str, str | bytes] = {"a.md": build_file(title="A"), "b.md": build_file(title="B")}
    return jobs.create_import_job(actor=actor, archive=build_archive(files), name="site.zip")


def finish_work() -> None:
    worker = ImportWorker()
    while worker.work(Flag()):
        pass
    worker.drop()


@causes(Event.IMPORT_UPLOADED, "admin")
def upload_an_import(scene: Scene) -> Act:
    return lambda: upload(scene)


@causes(Event.IMPORT_STARTED, "admin")
def start_an_import(scene: Scene) -> Act:
    job = upload(scene)
    finish_work()
    return lambda: scene.browser.post(reverse("admin:blog_importjob_start", args=[job.pk]))


@causes(Event.IMPORT_FINISHED, "import")
def finish_an_import(scene: Scene) -> Act:
    job = upload(scene)
    finish_work()
    jobs.start_import(actor=build_session_actor(scene.user), job_id=str(job.pk))
    return finish_work


@causes(Event.IMPORT_FINISHED, "import")
def import_by_command(scene: Scene) -> Act:
    (scene.folder / "a.md").write_text(build_file(title="A"))
    return lambda: scene.command("import_posts", str(scene.folder))


@causes(Event.IMPORT_FAILED, "clock")
def import_for_a_locked_owner(scene: Scene) -> Act:
    upload(scene)
    User.objects.filter(pk=scene.user.pk).update(is_active=False)
    return finish_work


@causes(Event.IMPORT_CANCELLED, "admin")
def cancel_an_import(scene: Scene) -> Act:
    job = upload(scene)
    return lambda: scene.browser.post(reverse("admin:blog_importjob_cancel", args=[job.pk]))


@causes(Event.IMPORT_UNDONE, "import")
def undo_an_import(scene: Scene) -> Act:
    job = upload(scene)
    finish_work()
    jobs.start_import(actor=build_session_actor(scene.user), job_id=str(job.pk))
    finish_work()
    undoing.start_undo(actor=build_session_actor(scene.user), job_id=str(job.pk))
    Post.objects.all().delete()  # otherwise each deletion has a line
    return finish_work


@causes(Event.IMPORT_PURGED, "clock")
def purge_old_imports(scene: Scene) -> Act:
    job = upload(scene)
    ImportJob.objects.filter(pk=job.pk).update(
        state=ImportState.CHECKED, created_at=timezone.now() - timedelta(days=31)
    )
    return lambda: jobs.purge_imports(actor=CLOCK)


# --- Orders --------------------------------------------------------------------------------------------


@causes(Event.ORDER_PAID, "REST")
def pay_an_order(scene: Scene) -> Act:
    order = make_order()
    return lambda: scene.request("POST", f"/orders/{order.pk}/payment")


@causes(Event.ORDER_PAID, "admin")
def pay_an_order_in_the_admin(scene: Scene) -> Act:
    order = make_order()
    return lambda: scene.press("orders_order", order.pk, "pay")


@causes(Event.ORDER_CANCELLED, "REST")
def cancel_an_order(scene: Scene) -> Act:
    order = make_order()
    return lambda: scene.request("DELETE", f"/orders/{order.pk}")


@causes(Event.ORDER_SHIPPED, "command line")
def ship_an_order(scene: Scene) -> Act:
    order = make_order(status=OrderStatus.PAID)
    command = ("ship_order", str(order.pk), "--carrier", "Harbour Mail", "--tracking-number", "HM-7")
    return lambda: scene.command(*command)


@causes(Event.ORDER_DELIVERED, "command line")
def deliver_an_order(scene: Scene) -> Act:
    order = make_order()
    orders.pay_order(actor=OPERATOR, order_id=str(order.pk))
    orders.ship_order(actor=OPERATOR, order_id=str(order.pk), carrier="Mail", tracking_number="7")
    return lambda: scene.command("deliver_order", str(order.pk))


# --- The tests -----------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("case", CASES, ids=str)
def test_act_writes_its_line(
    case: Case,
    lines: Lines,
    settings: Settings,
    tmp_path: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    scene = Scene(settings, tmp_path)
    act = case.prepare(scene)

    with django_capture_on_commit_callbacks(execute=True):
        act()

    assert lines.events == [case.event] * case.number
    assert {fields["interface"] for fields in lines.fields} == {case.interface}
    text = repr(lines.fields).encode()
    assert not EMAIL.search(text)
    assert [secret for secret in scene.secrets if secret and secret.encode() in text and len(secret) > 12] == []
    assert all(value is not None for fields in lines.fields for value in fields.values())


def test_every_event_has_an_act() -> None:
    assert {case.event for case in CASES} == set(Event)


def test_documented_events_are_those_of_the_code() -> None:
    table = (
        (ROOT / "docs/monitoring.md")
        .read_text()
        .partition("## Audit log")[2]
        .partition("| Event |")[2]
        .partition("\n\n")[0]
    )

    rows = re.findall(r"^\| ((?:`[a-z_.]+`(?:, )?)+) \|", table, re.MULTILINE)

    assert re.findall(r"`([a-z_.]+)`", " ".join(rows)) == [event.value for event in Event]


@pytest.mark.django_db(transaction=True)
def test_line_has_the_request_id_of_the_response(lines: Lines, settings: Settings, tmp_path: Path) -> None:
    scene = Scene(settings, tmp_path)
    post = make_post()
    lines.fields.clear()
    lines.request_ids.clear()

    response = scene.request("DELETE", f"/posts/{post.pk}")

    assert lines.request_ids == [response.headers["X-Request-ID"]]
    prefix = scene.key.rpartition("_")[0]
    assert lines.fields == [
        {
            "event": "post.deleted",
            "actor_id": scene.user.pk,
            "credential": "api-key",
            "credential_id": f"key:{prefix}",
            "interface": "REST",
            "subject": "post",
            "subject_id": str(post.pk),
            "from": "published",
        }
    ]


@pytest.mark.django_db(transaction=True)
def test_act_that_is_rolled_back_writes_no_line(lines: Lines) -> None:
    post = make_post()

    def delete_and_fail() -> None:
        with transaction.atomic():
            services.delete_post(actor=OPERATOR, post_id=str(post.pk))
            raise Conflict("Later in the same transaction.")

    with pytest.raises(Conflict):
        delete_and_fail()

    assert lines.events == []


@pytest.mark.django_db(transaction=True)
def test_dry_run_of_an_import_writes_no_line(lines: Lines, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(build_file(title="A"))

    call_command("import_posts", str(tmp_path), "--dry-run", stdout=StringIO(), stderr=StringIO())

    assert lines.events == []


def test_line_is_written_at_any_log_level() -> None:
    loggers: Any = project.LOGGING["loggers"]

    assert loggers["contentapi.audit"] == {"level": "INFO"}


@pytest.mark.django_db
def test_failed_login_names_the_user_or_a_keyed_hash(
    lines: Lines, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    user = make_member("admin")

    with django_capture_on_commit_callbacks(execute=True):
        for email in (user.email, "Nobody@example.invalid", "nobody@EXAMPLE.invalid ", "other@example.invalid"):
            Client(REMOTE_ADDR="192.0.2.7").post("/oauth/login", {"username": email, "password": "wrong"})

    known, first, same, other = lines.fields
    common = {"event": "login.failed", "credential": "none", "interface": "OAuth", "subject": "user"}
    common |= {"reason": "refused", "address": "192.0.2.7"}
    assert known == {**common, "subject_id": str(user.pk)}
    assert first == {**common, "account": first["account"]}
    assert first["account"] == same["account"] != other["account"]
    assert re.fullmatch(r"[0-9a-f]{16}", first["account"])


@pytest.mark.django_db
def test_acts_without_effect_write_no_line(
    lines: Lines,
    settings: Settings,
    tmp_path: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    scene = Scene(settings, tmp_path)
    post, user = make_post(), make_user(is_active=False)
    key = make_key(scene)
    user_services.revoke_api_key(actor=OPERATOR, prefix=key.prefix)
    cancelled = make_order(status=OrderStatus.CANCELLED)

    with django_capture_on_commit_callbacks(execute=True):
        scene.request("PATCH", f"/posts/{post.pk}", {"status": "published"})
        scene.request("PATCH", f"/posts/{post.pk}", {"title": "Other"})
        user_services.lock_user(actor=OPERATOR, user_id=str(user.pk))
        user_services.revoke_api_key(actor=OPERATOR, prefix=key.prefix)
        orders.cancel_order(actor=OPERATOR, order_id=str(cancelled.pk))
        trash.purge_history(actor=CLOCK)
        moderation.purge_comments(actor=CLOCK)
        Client().post("/oauth/logout")

    assert lines.events == []
