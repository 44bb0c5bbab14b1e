"""The events of the audit log, each with an action that causes it: at least one by each way to its service."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from django.db.models import Model
from django.utils import timezone

from blog import services
from blog.models import CommentState
from blog.models.audit import Audit as Blog
from contentapi.core.identity import WORKER
from contentapi.events.webhooks.deliveries import disable
from contentapi.events.webhooks.models import DisabledReason, Webhook
from contentapi.monitoring.audit import Audit as Kernel
from contentapi.monitoring.audit import AuditEvent
from orders.models import Audit as Orders
from orders.models import OrderStatus
from tests.contentapi.monitoring import audit_actions as actions
from tests.contentapi.monitoring.audit_actions import Action, ago, make_client, make_key
from tests.contentapi.monitoring.audit_scene import Scene
from tests.factories import make_author, make_image, make_order, make_post, make_user, make_working_copy
from tests.users.oauth.flow import PASSWORD
from tests.webhook_rows import URL, make_webhook
from users.audit import Audit as Users

LATER = "2100-01-01T00:00:00Z"
NEW_POST = 'createPost(input: {title: "New", body: "Text", status: published}) { id }'
NEW_WEBHOOK = {"name": "New", "url": URL, "types": ["post.*"], "scopes": []}
Make = Callable[..., Model]
NEW_USER = {"name": "New", "email": "new@example.invalid"}
NEW_PASSWORD = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}


class Case(NamedTuple):
    """`prepare` returns the action, which writes `number` lines."""

    event: AuditEvent
    interface: str
    prepare: Callable[[Scene], Action]
    number: int = 1

    def __str__(self) -> str:
        return f"{self.event}-{self.interface}"


def on_webhook(scene: Scene, method: str, path: str = "", **body: object) -> Action:
    return partial(scene.request, method, f"/webhooks/{make_webhook(scene.user).pk}{path}", body)


def enable_webhook(scene: Scene) -> Action:
    action = on_webhook(scene, "PATCH", enabled=True)
    Webhook.objects.update(disabled_at=timezone.now(), disabled_reason="person")
    return action


def command_webhook(scene: Scene, action: str) -> Action:
    return partial(scene.command, "webhooks", action, make_webhook(scene.user).pk)


def disable_webhook_that_is_gone(scene: Scene) -> Action:
    return partial(disable, make_webhook(scene.user), DisabledReason.GONE)


def create_webhook_by_command(scene: Scene) -> Action:
    return partial(scene.command, "webhooks", "create", scene.user.email, URL, "--name", "New", "--type", "post.*")


def ship_order(scene: Scene) -> Action:
    order = make_order(status=OrderStatus.PAID)
    return partial(scene.command, "ship_order", order.pk, "--carrier", "Mail", "--tracking-number", "HM-7")


def delete_selected_posts(scene: Scene) -> Action:
    posts = f"{make_post().pk},{make_post().pk}"
    return partial(scene.open, "blog_post_bulk", "delete_selected", ids=posts)


def refuse_due_copy_of_an_archived_post(_: Scene) -> Action:
    make_working_copy(make_post(status="archived"), publish_at=ago(1))
    return lambda: list(services.publish_due(actor=WORKER))


def publish_due_post(_: Scene) -> Action:
    actions.make_due_post()
    return lambda: list(services.publish_due(actor=WORKER))


def purge_image(_: Scene) -> Action:
    make_image(deleted_at=ago(31))
    return partial(services.purge_images, actor=WORKER)


def by_graphql(event: AuditEvent, mutation: str, make: Make | None = None) -> Case:
    return Case(event, "GraphQL", lambda scene: partial(scene.gql, mutation, make and make()))


def by_rest(event: AuditEvent, method: str, path: str, make: Make | None = None, body: object = None) -> Case:
    return Case(event, "REST", lambda scene: partial(scene.request, method, path % make().pk if make else path, body))


def by_command(event: AuditEvent, *arguments: str) -> Case:
    return Case(event, "command line", lambda scene: partial(scene.command, *arguments))


def by_form(event: AuditEvent, page: str, make: Make, **edits: str) -> Case:
    return Case(event, "admin", lambda scene: partial(scene.submit, page, make().pk, **edits))


def by_button(event: AuditEvent, page: str, *arguments: str, make: Make, **values: str) -> Case:
    return Case(event, "admin", lambda scene: partial(scene.open, page, make().pk, *arguments, **values))


DRAFT = partial(make_post, status="draft")
ARCHIVED = partial(make_post, status="archived")
LOCKED = partial(make_user, is_active=False)
TRACKING = {"carrier": "Mail", "tracking_number": "7", "shipped_at": timezone.now()}
SHIPPED = partial(make_order, status=OrderStatus.SHIPPED, **TRACKING)
DELETED_IMAGE = partial(make_image, deleted_at=timezone.now())
START, CANCEL = "blog_importjob_start", "blog_importjob_cancel"
SCHEDULE = f'schedulePost(input: {{id: "%d", publishAt: "{LATER}"}}) {{ id }}'
ACCOUNTS = [
    Case(Users.LOGIN_SUCCEEDED, "admin", lambda _: actions.log_in("/admin/login/", PASSWORD)),
    Case(Users.LOGIN_SUCCEEDED, "OAuth", lambda _: actions.log_in("/oauth/login", PASSWORD)),
    Case(Users.LOGIN_FAILED, "admin", lambda _: actions.log_in("/admin/login/", "wrong")),
    Case(
        Users.LOGIN_FAILED, "OAuth", lambda _: actions.log_in("/oauth/login", PASSWORD, email="nobody@example.invalid")
    ),
    Case(Users.LOGIN_FAILED, "admin", lambda _: actions.log_in("/admin/login/", PASSWORD, role="reader")),
    Case(Users.LOGIN_FAILED, "admin", actions.log_in_over_the_limit),
    Case(Users.LOGOUT, "admin", lambda scene: partial(scene.open, "logout")),
    Case(Users.LOGOUT, "OAuth", lambda scene: partial(scene.browser.post, "/oauth/logout")),
    by_rest(Users.USER_CREATED, "POST", "/users", body=NEW_USER),
    by_command(Users.USER_CREATED, "createsuperuser", "--noinput", "--email=new@example.invalid", "--name=New"),
    Case(Users.USER_CHANGED, "admin", lambda s: actions.edit_user(s, name="Other", email="other@example.invalid")),
    Case(Users.USER_ROLE_CHANGED, "admin", lambda scene: actions.edit_user(scene, role="editor")),
    by_button(Users.USER_LOCKED, "users_user_action", "lock", make=make_user),
    by_button(Users.USER_UNLOCKED, "users_user_action", "unlock", make=LOCKED),
    by_form(Users.USER_PASSWORD_CHANGED, "auth_user_password_change", make_user, **NEW_PASSWORD),
    Case(Users.USER_PASSWORD_CHANGED, "admin", actions.change_own_password),
    Case(Users.USER_PASSWORD_CHANGED, "admin", actions.choose_password_at_a_link),
    Case(Users.USER_LINK_REQUESTED, "admin", actions.ask_for_a_link),
    Case(Users.USER_INVITED, "admin", actions.invite),
    by_rest(Users.USER_DELETED, "DELETE", "/users/%d", make_user),
]
CREDENTIALS = [
    Case(
        Users.API_KEY_CREATED,
        "command line",
        lambda s: partial(s.command, "create_api_key", s.user.email, "--name=New"),
    ),
    Case(Users.API_KEY_REVOKED, "command line", lambda s: partial(s.command, "revoke_api_key", make_key(s).prefix)),
    Case(Users.TOKEN_ISSUED, "command line", lambda scene: partial(scene.command, "issue_token", scene.user.email)),
    Case(Users.TOKEN_ISSUED, "OAuth", actions.exchange_code),
    Case(Users.TOKEN_ISSUED, "OAuth", actions.refresh_token),
    Case(Kernel.JWT_KEY_ROTATED, "command line", actions.rotate_keys_in_the_folder),
    Case(Kernel.JWT_KEY_ROTATED, "command line", actions.rotate_key_of_the_environment),
    by_command(Users.OAUTH_CLIENT_CREATED, "create_oauth_client", "App", "--redirect-uri=https://app.example.invalid/"),
    by_form(Users.OAUTH_CLIENT_CHANGED, "oauth2_provider_application_change", make_client, name="Other"),
    Case(Users.OAUTH_CLIENT_SECRET_RENEWED, "admin", actions.renew_client_secret),
    by_form(Users.OAUTH_CLIENT_REVOKED, "oauth2_provider_application_delete", make_client, post="yes"),
    Case(Users.OAUTH_CONSENT_GRANTED, "OAuth", lambda scene: actions.Consent(scene).grant),
    Case(Users.OAUTH_CONSENT_REVOKED, "OAuth", lambda scene: actions.revoke_token(scene, "refresh_token")),
    Case(Users.OAUTH_CONSENT_REVOKED, "OAuth", lambda scene: actions.revoke_token(scene, "access_token")),
    Case(Users.OAUTH_CONSENT_REVOKED, "admin", actions.revoke_selected_consents, 2),
    Case(Users.OAUTH_TOKEN_REUSED, "OAuth", actions.send_code_again),
    Case(Users.OAUTH_TOKEN_REUSED, "OAuth", actions.send_refresh_token_again),
]
CONTENT = [
    by_graphql(Blog.POST_PUBLISHED, 'publishPost(id: "%d") { id }', DRAFT),
    by_graphql(Blog.POST_PUBLISHED, NEW_POST),
    Case(Blog.POST_PUBLISHED, "worker", publish_due_post),
    by_graphql(Blog.POST_SCHEDULED, SCHEDULE, DRAFT),
    by_graphql(Blog.POST_UNPUBLISHED, 'unpublishPost(id: "%d") { id }', make_post),
    by_rest(Blog.POST_ARCHIVED, "PATCH", "/posts/%d", make_post, {"status": "archived"}),
    by_graphql(Blog.POST_UNARCHIVED, 'unpublishPost(id: "%d") { id }', ARCHIVED),
    by_graphql(Blog.POST_DELETED, 'deletePost(id: "%d")', make_post),
    Case(Blog.POST_DELETED, "admin", delete_selected_posts, 2),
    by_button(Blog.POST_RESTORED, "blog_post_restore_deleted", make=actions.make_deleted_post),
    Case(Blog.POST_HISTORY_PURGED, "worker", actions.purge_history),
    Case(Blog.POST_COPY_PUBLISHED, "REST", lambda scene: actions.change_copy(scene, "POST", "/publish")),
    Case(Blog.POST_COPY_DISCARDED, "REST", lambda scene: actions.change_copy(scene, "DELETE", "")),
    Case(Blog.POST_COPY_REFUSED, "worker", refuse_due_copy_of_an_archived_post),
    by_graphql(Blog.PREVIEW_LINK_CREATED, 'createPreviewLink(input: {postId: "%d"}) { url }', make_post),
    Case(Blog.PREVIEW_LINK_REVOKED, "REST", actions.revoke_preview_link),
    Case(Blog.IMAGE_UPLOADED, "REST", actions.upload_image),
    by_graphql(Blog.IMAGE_DELETED, 'deleteImage(input: {id: "%d"}) { deletedImageId }', make_image),
    by_graphql(Blog.IMAGE_RESTORED, 'restoreImage(input: {id: "%d"}) { image { id } }', DELETED_IMAGE),
    Case(Blog.IMAGE_PURGED, "worker", purge_image),
    by_graphql(Blog.COMMENT_DELETED, 'deleteComment(id: "%d")', actions.make_any_comment),
    Case(Blog.COMMENT_HIDDEN, "admin", lambda scene: actions.moderate(scene, "hide")),
    Case(Blog.COMMENT_SHOWN, "admin", lambda scene: actions.moderate(scene, "show", CommentState.HIDDEN)),
    Case(Blog.COMMENT_RESTORED, "admin", lambda scene: actions.moderate(scene, "restore", CommentState.DELETED)),
    Case(Blog.COMMENT_PURGED, "worker", actions.purge_comments),
    by_form(Blog.AUTHOR_DELETED, "blog_author_delete", make_author, post="yes"),
    by_rest(Orders.ORDER_PAID, "POST", "/orders/%d/payment", make_order),
    by_rest(Orders.ORDER_CANCELLED, "DELETE", "/orders/%d", make_order),
    Case(Orders.ORDER_SHIPPED, "command line", ship_order),
    Case(Orders.ORDER_DELIVERED, "command line", lambda scene: partial(scene.command, "deliver_order", SHIPPED().pk)),
]
IMPORTS = [
    Case(Blog.IMPORT_UPLOADED, "admin", lambda scene: partial(actions.upload, scene)),
    Case(Blog.IMPORT_STARTED, "admin", lambda scene: partial(scene.open, START, actions.upload_and_check(scene).pk)),
    Case(Blog.IMPORT_FINISHED, "import", actions.finish_import),
    Case(Blog.IMPORT_FINISHED, "import", actions.import_by_command),
    Case(Blog.IMPORT_FAILED, "worker", actions.import_for_a_locked_owner),
    Case(Blog.IMPORT_CANCELLED, "admin", lambda scene: partial(scene.open, CANCEL, actions.upload(scene).pk)),
    Case(Blog.IMPORT_UNDONE, "import", actions.undo_import),
    Case(Blog.IMPORT_PURGED, "worker", actions.purge_imports),
]
WEBHOOKS = [
    by_rest(Kernel.WEBHOOK_CREATED, "POST", "/webhooks", body=NEW_WEBHOOK),
    Case(Kernel.WEBHOOK_CREATED, "command line", create_webhook_by_command),
    Case(Kernel.WEBHOOK_CHANGED, "REST", lambda scene: on_webhook(scene, "PATCH", name="Other")),
    Case(Kernel.WEBHOOK_DISABLED, "command line", lambda scene: command_webhook(scene, "disable")),
    Case(Kernel.WEBHOOK_DISABLED, WORKER.interface, disable_webhook_that_is_gone),
    Case(Kernel.WEBHOOK_ENABLED, "REST", enable_webhook),
    Case(Kernel.WEBHOOK_SECRET_ROTATED, "REST", lambda scene: on_webhook(scene, "POST", "/secrets")),
    Case(Kernel.WEBHOOK_REPLAYED, "command line", lambda scene: command_webhook(scene, "replay")),
    Case(Kernel.WEBHOOK_DELETED, "REST", lambda scene: on_webhook(scene, "DELETE")),
]
CASES = [*ACCOUNTS, *CREDENTIALS, *CONTENT, *IMPORTS, *WEBHOOKS]
