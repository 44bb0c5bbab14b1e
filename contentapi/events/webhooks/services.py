"""Writes of webhooks. Each function checks the permission, locks the webhook, validates and writes.

`expected_version` is a version that the caller has read. If the webhook has another one, the function raises
`VersionConflict`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from contentapi.conf.timeouts import WEBHOOK_SECRET_OVERLAP
from contentapi.core import policy
from contentapi.core.entity_tags import ExpectedVersion, require_version
from contentapi.core.errors import Conflict, Invalid, Malformed, require_row
from contentapi.core.identity import Actor, Scope
from contentapi.db.ids import take_id
from contentapi.db.statements import execute
from contentapi.events.feed import read_log
from contentapi.events.sources import MAX_TYPES, get_event_types
from contentapi.events.webhooks import selectors
from contentapi.events.webhooks.addresses import validate_url
from contentapi.events.webhooks.bodies import get_selection, require_readable_selection
from contentapi.events.webhooks.models import LONGEST_COALESCE, MAX_NAME, DisabledReason, Webhook
from contentapi.events.webhooks.planning import advance_stalled_subjects
from contentapi.events.webhooks.signing import encrypt_secret, make_secret
from contentapi.monitoring.audit import Audit

MAX_WEBHOOKS = 100
WEBHOOKS_LOCK = 0x776562686F6F6B  # "webhook": one is created at a time
MOST_RESUMED = 10_000  # deliveries whose next attempt is now; the others keep its time
TAKING = {"url", "types", "selection", "enabled"}  # with which one gets what the webhook may see


def validate_name(name: str | None) -> str:
    text = (name or "").strip()
    if not 1 <= len(text) <= MAX_NAME or not text.isprintable():
        raise Invalid({"name": [f"From 1 to {MAX_NAME} characters of one line are allowed (got {len(text)})."]})
    return text


def validate_types(types: Collection[str] | None) -> list[str]:
    if not types:
        raise Invalid({"types": [f"From 1 to {MAX_TYPES} types are allowed (got 0)."]})
    try:
        get_event_types().parse(types)
    except Malformed as error:
        raise Invalid({"types": [error.message]}) from None
    return sorted(set(types))


def validate_coalesce(seconds: float | None) -> int:
    if seconds is None:
        raise Invalid({"coalesce": ["This must not be null."]})
    if seconds != int(seconds) or not 0 <= seconds <= LONGEST_COALESCE:
        raise Invalid({"coalesce": [f"From 0 to {LONGEST_COALESCE} seconds are allowed (got {seconds:g})."]})
    return int(seconds)


def validate_scopes(scopes: Collection[str] | None) -> list[str]:
    if scopes is None:
        raise Invalid({"scopes": ["This must not be null."]})
    for scope in scopes:
        if scope not in Scope.values:
            raise Invalid({"scopes": [f'There is no scope "{scope[:50]}".']})
    return sorted({str(scope) for scope in scopes})


VALIDATIONS: Mapping[str, Callable[[Any], Any]] = {
    "name": validate_name,
    "url": validate_url,
    "types": validate_types,
    "selection": lambda text: get_selection((text or "").strip()).text,
    "coalesce": validate_coalesce,
    "scopes": validate_scopes,
}
EDITABLE = tuple(VALIDATIONS)


class SecretOf(NamedTuple):
    """A webhook, and its new secret, which is shown once."""

    webhook: Webhook
    secret: str


@transaction.atomic
def create_webhook(
    *,
    actor: Actor,
    name: str,
    url: str,
    types: Collection[str],
    selection: str | None = None,
    coalesce: float | None = None,
    scopes: Collection[str] | None = None,
    maker_id: int | None = None,
) -> SecretOf:
    """Create a webhook, which sends the events from now on. Without scopes, it has all of the actor's.

    Only the operator names another user as the maker. Raises `Invalid`, `Forbidden` for a scope that the actor does not
    have, and `Conflict` if there are 100 webhooks.
    """
    selectors.require_management(actor, "create webhooks")
    maker = actor.user_id if maker_id is None else maker_id
    may_name = maker == actor.user_id or policy.may_name_maker(actor)
    policy.require_permission(actor, may_name, "create webhooks of this user")
    if maker is None:
        raise Invalid({"maker": ["Name the user whose rights the webhook has."]})
    log, pk, secret = read_log(), take_id(), make_secret()
    webhook = Webhook(pk=pk, maker_id=maker, epoch=log.epoch, position=log.position)
    webhook.secret = encrypt_secret(secret, pk)
    granted = sorted(scope for scope in Scope if actor.has(scope)) if scopes is None else scopes
    values = {"name": name, "url": url, "types": types, "selection": selection, "coalesce": coalesce or 0}
    apply_changes(webhook, {**values, "scopes": granted})
    require_scopes(actor, webhook.scopes)
    execute("SELECT pg_advisory_xact_lock(%s)", [WEBHOOKS_LOCK])
    if Webhook.objects.count() >= MAX_WEBHOOKS:
        raise Conflict(f"At most {MAX_WEBHOOKS} webhooks are allowed. Delete one first.")
    webhook.save(force_insert=True)
    Audit.WEBHOOK_CREATED.record(actor, "webhook", pk, scopes=" ".join(webhook.scopes), maker_id=maker)
    return SecretOf(webhook, secret)


@transaction.atomic
def edit_webhook(
    *, actor: Actor, webhook_id: str, changes: Mapping[str, Any], expected_version: ExpectedVersion = None
) -> Webhook:
    """Change a webhook: `changes` may have the fields in `EDITABLE`, and `enabled`.

    What a disabled webhook has not sent is sent when it is enabled. Raises `NotFound`, `Invalid` and `Forbidden`.
    """
    webhook = get_webhook_for_update(actor, webhook_id, "change webhooks")
    require_version("webhook", webhook.version, expected_version)
    before = {name: getattr(webhook, name) for name in EDITABLE}
    apply_changes(webhook, {name: changes[name] for name in EDITABLE if name in changes})
    is_taking = TAKING & changes.keys() and changes.get("enabled") is not False
    former = () if is_taking else before["scopes"]
    require_scopes(actor, set(webhook.scopes).difference(former))
    changed = [name for name in EDITABLE if getattr(webhook, name) != before[name]]
    if "enabled" in changes:
        changed += set_enabled(actor, webhook, enabled=changes["enabled"])
    if changed:
        webhook.version += 1
        webhook.save(update_fields=[*changed, "version"])
        fields = ",".join(sorted(set(changed) & set(EDITABLE)))
        if fields:
            Audit.WEBHOOK_CHANGED.record(actor, "webhook", webhook.pk, changed=fields)
    return webhook


def set_enabled(actor: Actor, webhook: Webhook, *, enabled: bool | None) -> list[str]:
    """Enable or disable a webhook. Return the names of the changed columns. Raises `Invalid`."""
    if enabled is None:
        raise Invalid({"enabled": ["This must not be null."]})
    if enabled == webhook.is_enabled:
        return []
    webhook.disabled_at = None if enabled else timezone.now()
    webhook.disabled_reason = "" if enabled else DisabledReason.PERSON
    webhook.failing_since = None
    if enabled:
        resume(webhook)
    event = Audit.WEBHOOK_ENABLED if enabled else Audit.WEBHOOK_DISABLED
    event.record(actor, "webhook", webhook.pk, reason=str(webhook.disabled_reason))
    return ["disabled_at", "disabled_reason", "failing_since"]


def resume(webhook: Webhook) -> None:
    """Let the deliveries of a webhook be due that waited for their next attempt, and let a sender look at it."""
    advance_stalled_subjects(webhook)
    later = webhook.deliveries.filter(state="waiting", due_at__gt=Now()).order_by("due_at").values("pk")
    webhook.deliveries.filter(pk__in=later[:MOST_RESUMED]).update(due_at=Now())
    Webhook.objects.filter(pk=webhook.pk).update(due_at=Now())


@transaction.atomic
def delete_webhook(*, actor: Actor, webhook_id: str, expected_version: ExpectedVersion = None) -> str:
    """Delete a webhook, and return its id. Its deliveries are not sent, and cannot be seen. Raises `NotFound`."""
    webhook = get_webhook_for_update(actor, webhook_id, "delete webhooks")
    require_version("webhook", webhook.version, expected_version)
    number = str(webhook.pk)
    Audit.WEBHOOK_DELETED.record(actor, "webhook", number)
    webhook.delete()
    return number


@transaction.atomic
def rotate_secret(*, actor: Actor, webhook_id: str, expected_version: ExpectedVersion = None) -> SecretOf:
    """Give a webhook another secret. The former one signs too for 24 hours. Raises `NotFound`.

    Of two rotations in 24 hours, only the last two secrets sign.
    """
    webhook = get_webhook_for_update(actor, webhook_id, "rotate secrets of webhooks")
    require_version("webhook", webhook.version, expected_version)
    require_scopes(actor, webhook.scopes)
    secret = make_secret()
    webhook.previous_secret, webhook.secret = webhook.secret, encrypt_secret(secret, webhook.pk)
    webhook.previous_until = timezone.now() + WEBHOOK_SECRET_OVERLAP
    webhook.version += 1
    webhook.save(update_fields=["secret", "previous_secret", "previous_until", "version"])
    Audit.WEBHOOK_SECRET_ROTATED.record(actor, "webhook", webhook.pk)
    return SecretOf(webhook, secret)


def get_webhook_for_update(actor: Actor, webhook_id: str, action: str) -> Webhook:
    """Return a webhook, locked until the transaction ends: senders plan and record under the same lock."""
    selectors.require_management(actor, action)
    webhooks = selectors.select_webhook_by_id(actor, webhook_id).queryset()
    return require_row(webhooks.select_for_update(of=("self",)), "webhook")


def require_scopes(actor: Actor, scopes: Iterable[str]) -> None:
    """Raise `Forbidden` unless the actor has the scopes: nobody sees by a webhook what they may not see themselves."""
    for scope in sorted(set(scopes) & set(Scope.values)):
        policy.require_permission(actor, policy.may_grant_scope(actor, Scope(scope)), f"use a webhook with {scope}")


def apply_changes(webhook: Webhook, changes: Mapping[str, Any]) -> None:
    """Set fields of a webhook. Raises `Invalid`."""
    problems: dict[str, list[str]] = {}
    for name, value in changes.items():
        try:
            setattr(webhook, name, VALIDATIONS[name](value))
        except Invalid as error:
            problems |= {field: list(texts) for field, texts in error.fields.items()}
    if problems:
        raise Invalid(problems)
    if webhook.selection and {"selection", "scopes"} & changes.keys():
        require_readable_selection(webhook)
