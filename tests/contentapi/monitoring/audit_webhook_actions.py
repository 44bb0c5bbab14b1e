"""Actions on webhooks, each with its event of the audit log."""

from contentapi.core.identity import WORKER
from contentapi.events.webhooks.disabling import disable
from contentapi.events.webhooks.models import DisabledReason, Webhook
from contentapi.monitoring.audit import Audit
from tests.admin_forms import read_form
from tests.contentapi.monitoring.audit_scene import Action, Scene, causes
from tests.webhook_rows import URL, make_webhook

ADD = "/admin/events/webhook/add/"
DATA = {"name": "New", "url": URL, "types": ["post.*"], "scopes": []}


def prepare_webhook(scene: Scene) -> Webhook:
    return make_webhook(scene.user)


@causes(Audit.WEBHOOK_CREATED, "REST")
def create_a_webhook_by_rest(scene: Scene) -> Action:
    prepare_webhook(scene)
    return lambda: scene.secrets.append(scene.request("POST", "/webhooks", DATA).json()["secret"])


@causes(Audit.WEBHOOK_CREATED, "GraphQL")
def create_a_webhook_by_graphql(scene: Scene) -> Action:
    prepare_webhook(scene)
    values = f'name: "New", url: "{URL}", types: ["post.*"]'
    return lambda: scene.gql(f"createWebhook(input: {{{values}}}) {{ webhook {{ id }} }}")


@causes(Audit.WEBHOOK_CREATED, "admin")
def create_a_webhook_in_the_admin(scene: Scene) -> Action:
    prepare_webhook(scene)
    return lambda: scene.browser.post(ADD, {**read_form(scene.browser.get(ADD).text), **DATA})


@causes(Audit.WEBHOOK_CREATED, "command line")
def create_a_webhook_by_command(scene: Scene) -> Action:
    prepare_webhook(scene)
    return lambda: scene.command("webhooks", "create", scene.user.email, URL, "--name", "New", "--type", "post.*")


@causes(Audit.WEBHOOK_CHANGED, "REST")
def change_a_webhook_by_rest(scene: Scene) -> Action:
    webhook = prepare_webhook(scene)
    return lambda: scene.request("PATCH", f"/webhooks/{webhook.pk}", {"name": "Other"})


@causes(Audit.WEBHOOK_DISABLED, "admin")
def disable_a_webhook_in_the_admin(scene: Scene) -> Action:
    webhook = prepare_webhook(scene)
    return lambda: scene.press("events_webhook", webhook.pk, "disable")


@causes(Audit.WEBHOOK_DISABLED, "command line")
def disable_a_webhook_by_command(scene: Scene) -> Action:
    webhook = prepare_webhook(scene)
    return lambda: scene.command("webhooks", "disable", str(webhook.pk))


@causes(Audit.WEBHOOK_DISABLED, WORKER.interface)
def disable_a_webhook_that_is_gone(scene: Scene) -> Action:
    webhook = prepare_webhook(scene)
    return lambda: disable(webhook, DisabledReason.GONE)


@causes(Audit.WEBHOOK_ENABLED, "REST")
def enable_a_webhook_by_rest(scene: Scene) -> Action:
    webhook = prepare_webhook(scene)
    Webhook.objects.filter(pk=webhook.pk).update(disabled_at=webhook.created_at, disabled_reason="person")
    return lambda: scene.request("PATCH", f"/webhooks/{webhook.pk}", {"enabled": True})


@causes(Audit.WEBHOOK_SECRET_ROTATED, "REST")
def rotate_a_secret_by_rest(scene: Scene) -> Action:
    webhook = prepare_webhook(scene)
    return lambda: scene.secrets.append(scene.request("POST", f"/webhooks/{webhook.pk}/secrets").json()["secret"])


@causes(Audit.WEBHOOK_SECRET_ROTATED, "command line")
def rotate_a_secret_by_command(scene: Scene) -> Action:
    webhook = prepare_webhook(scene)
    return lambda: scene.command("webhooks", "rotate", str(webhook.pk))


@causes(Audit.WEBHOOK_REPLAYED, "command line")
def replay_events_by_command(scene: Scene) -> Action:
    webhook = prepare_webhook(scene)
    return lambda: scene.command("webhooks", "replay", str(webhook.pk))


@causes(Audit.WEBHOOK_DELETED, "REST")
def delete_a_webhook_by_rest(scene: Scene) -> Action:
    webhook = prepare_webhook(scene)
    return lambda: scene.request("DELETE", f"/webhooks/{webhook.pk}")
