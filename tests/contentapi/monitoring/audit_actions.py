"""Actions that need more than one row: a function prepares what an action of the audit log needs, and returns it."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from io import StringIO
from threading import Event as Flag
from typing import Any

from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from msgspec import structs
from oauth2_provider.models import Application, RefreshToken

from blog import services
from blog.files import jobs
from blog.files.job_worker import work_on_imports
from blog.history import trash
from blog.models import Comment, CommentState, ImportJob, ImportState, Post, PostStatus, PostVersion
from blog.services import moderation
from contentapi.auth.sessions import build_session_actor
from contentapi.conf import conf
from contentapi.conf.environment import Environment
from contentapi.core.identity import OPERATOR, WORKER, Role
from tests.blog.archives import build_archive
from tests.blog.markdown_files import build_file
from tests.contentapi.monitoring.audit_scene import Scene
from tests.factories import make_actor, make_comment, make_post, make_user, make_working_copy
from tests.image_files import make_png
from tests.users.mails import FORGOTTEN, NEW, turn_mail_on
from tests.users.oauth.flow import PASSWORD, Browser, make_member
from tests.users.oauth.flow import Application as OAuthApplication
from users import services as user_services
from users.mail import build_link
from users.models import ApiKey, User

Action = Callable[[], object]


def ago(days: int) -> Any:
    return timezone.now() - timedelta(days=days)


# --- Logins and users


def log_in(path: str, password: str, role: str = "admin", email: str = "") -> Action:
    form = {"username": email or make_member(role).email, "password": password}
    return partial(Client().post, path, form)


def log_in_over_the_limit(scene: Scene) -> Action:
    scene.settings.ENVIRONMENT = structs.replace(scene.settings.ENVIRONMENT, contentapi_rate_login="1/minute")
    form = {"username": make_member("admin").email, "password": "wrong"}
    Client().post("/admin/login/", form)
    return partial(Client().post, "/admin/login/", {**form, "password": PASSWORD})


def change_own_password(scene: Scene) -> Action:
    member = make_member("admin")
    scene.browser.force_login(member)
    new = {"new_password1": NEW, "new_password2": NEW}
    return partial(scene.open, "password_change", old_password=PASSWORD, **new)


def choose_password_at_a_link(scene: Scene) -> Action:
    turn_mail_on(scene.settings)
    browser = Client()
    page = browser.get(build_link(make_member()).removeprefix(conf.origin))["Location"]
    return partial(browser.post, page, {"new_password1": NEW, "new_password2": NEW})


def ask_for_a_link(scene: Scene) -> Action:
    turn_mail_on(scene.settings)
    return partial(Client().post, FORGOTTEN, {"email": make_user(password="!").email})


def edit_user(scene: Scene, **changes: str) -> Action:
    actor = build_session_actor(scene.user)
    return partial(user_services.edit_user, actor=actor, user_id=str(make_user().pk), changes=changes)


def invite(scene: Scene) -> Action:
    turn_mail_on(scene.settings)
    return partial(scene.open, "users_user_action", make_user(password="!").pk, "invite")


# --- Credentials


def make_key(scene: Scene) -> ApiKey:
    key = user_services.create_api_key(actor=OPERATOR, email=scene.user.email, name="other")
    return ApiKey.objects.get(prefix=key.rpartition("_")[0])


def rotate_keys_in_the_folder(scene: Scene) -> Action:
    scene.settings.VAR_DIR = scene.folder
    return partial(call_command, "rotate_jwt_key", stdout=StringIO())  # prints no secret


def rotate_key_of_the_environment(scene: Scene) -> Action:
    secret = "a secret of thirty-two bytes, at least"
    scene.settings.ENVIRONMENT = structs.replace(scene.settings.ENVIRONMENT, jwt_secret=secret)
    return partial(scene.command, "rotate_jwt_key")


def make_client() -> Application:
    return Application.objects.get(client_id=OAuthApplication().registered.client_id)


def renew_client_secret(scene: Scene) -> Action:
    client = make_client()
    page = "oauth2_provider_application_action"
    return partial(scene.open, page, client.pk, "renew-secret", opened=client.updated.isoformat())


class Consent:
    """A consent of the admin of the scene to an application, and its tokens."""

    def __init__(self, scene: Scene) -> None:
        environment = structs.replace(scene.settings.ENVIRONMENT, contentapi_rate_tokens="100000/minute")
        scene.settings.ENVIRONMENT = environment
        self.secrets, self.application, self.user = scene.secrets, OAuthApplication(), scene.user
        self.secrets.append(self.application.registered.secret)

    def grant(self) -> str:
        self.secrets.append(code := Browser(self.user).obtain_code(self.application))
        return code

    def keep(self, response: Any) -> Any:
        tokens = response.json()
        self.secrets += [tokens["access_token"], tokens["refresh_token"]]
        return tokens

    def obtain(self) -> Any:
        return self.keep(self.application.exchange(self.grant()))

    def refresh(self, tokens: Any) -> Any:
        return self.keep(self.application.refresh(tokens["refresh_token"]))


def exchange_code(scene: Scene) -> Action:
    consent = Consent(scene)
    code = consent.grant()
    return lambda: consent.keep(consent.application.exchange(code))


def refresh_token(scene: Scene) -> Action:
    consent = Consent(scene)
    return partial(consent.refresh, consent.obtain())


def revoke_token(scene: Scene, kind: str) -> Action:
    consent = Consent(scene)
    return partial(consent.application.post, "/oauth/revoke", token=consent.obtain()[kind])


def revoke_selected_consents(scene: Scene) -> Action:
    Consent(scene).obtain()
    Consent(scene).obtain()
    ids = [str(pk) for pk in RefreshToken.objects.values_list("pk", flat=True)]
    form = {"action": "revoke_tokens", "_selected_action": ids}
    return partial(scene.open, "oauth2_provider_refreshtoken_changelist", **form)


def send_code_again(scene: Scene) -> Action:
    consent = Consent(scene)
    code = consent.grant()
    consent.application.exchange(code)
    return partial(consent.application.exchange, code)


def send_refresh_token_again(scene: Scene) -> Action:
    consent = Consent(scene)
    consent.refresh(tokens := consent.obtain())
    return partial(consent.application.refresh, tokens["refresh_token"])


# --- Content


def make_due_post() -> Post:
    return make_post(status=PostStatus.SCHEDULED, publish_at=ago(1))


def make_deleted_post() -> Post:
    post = make_post(status="draft")
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    return post


def purge_history(_: Scene) -> Action:
    make_deleted_post()
    PostVersion.objects.update(pgh_created_at=ago(60))
    return partial(trash.purge_history, actor=WORKER)


def change_copy(scene: Scene, method: str, path: str) -> Action:
    post = make_post()
    make_working_copy(post, title="Other")
    return partial(scene.request, method, f"/posts/{post.pk}/working-copy{path}")


def revoke_preview_link(scene: Scene) -> Action:
    made = services.create_preview_link(actor=make_actor(Role.EDITOR), post_id=str(make_post().pk))
    scene.secrets.append(made.token)
    return partial(scene.request, "DELETE", f"/preview-links/{made.preview_link.pk}")


def upload_image(scene: Scene) -> Action:
    scene.settings.ENVIRONMENT = Environment(contentapi_media=str(scene.folder))
    return partial(scene.request, "POST", "/images", make_png(8, 8), "image/png")


def make_any_comment() -> Comment:
    return make_comment(make_post())


def moderate(scene: Scene, action: str, state: CommentState = CommentState.VISIBLE) -> Action:
    comment = make_comment(make_post(), state=state, state_changed_at=timezone.now())
    return partial(scene.open, "blog_comment_action", comment.pk, action)


def purge_comments(_: Scene) -> Action:
    make_comment(make_post(), state=CommentState.DELETED, state_changed_at=ago(31))
    return partial(moderation.purge_comments, actor=WORKER)


# --- Imports


def upload(scene: Scene) -> ImportJob:
    files: dict[str, str | bytes] = {"a.md": build_file(title="A"), "b.md": build_file(title="B")}
    actor = build_session_actor(scene.user)
    return jobs.create_import_job(actor=actor, archive=build_archive(files), name="site.zip")


def finish_work() -> None:
    work_on_imports(Flag())


def upload_and_check(scene: Scene) -> ImportJob:
    job = upload(scene)
    finish_work()
    return job


def start_import(scene: Scene) -> ImportJob:
    job = upload_and_check(scene)
    jobs.start_import(actor=build_session_actor(scene.user), job_id=str(job.pk))
    return job


def finish_import(scene: Scene) -> Action:
    start_import(scene)
    return finish_work


def import_by_command(scene: Scene) -> Action:
    (scene.folder / "a.md").write_text(build_file(title="A"))
    return partial(scene.command, "import_posts", scene.folder)


def import_for_a_locked_owner(scene: Scene) -> Action:
    upload(scene)
    User.objects.filter(pk=scene.user.pk).update(is_active=False)
    return finish_work


def undo_import(scene: Scene) -> Action:
    job = start_import(scene)
    finish_work()
    jobs.start_undo(actor=build_session_actor(scene.user), job_id=str(job.pk))
    Post.objects.all().delete()  # otherwise each deletion has a line
    return finish_work


def purge_imports(scene: Scene) -> Action:
    upload(scene)
    ImportJob.objects.update(state=ImportState.CHECKED, created_at=ago(31))
    return partial(jobs.purge_imports, actor=WORKER)
