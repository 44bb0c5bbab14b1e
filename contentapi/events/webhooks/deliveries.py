"""Claim the deliveries that are due, record the results of their attempts, and disable webhooks that only fail.

A sender claims a webhook with a lease, and takes some of its deliveries: eight at a time are sent, those of a subject
one after the other. Recording the results ends the lease. A sender that is killed has its webhooks until their leases
end; then another one sends what was not recorded, with the same ids.
"""

import logging
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth import get_user_model
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models.functions import Now
from django.template.loader import render_to_string
from django.utils import timezone

from contentapi.conf import conf
from contentapi.conf.timeouts import WEBHOOK_FAILURES_LIMIT, WEBHOOK_LEASE
from contentapi.core.identity import WORKER, Actor
from contentapi.db.statements import execute, fetch_column, fetch_rows
from contentapi.events.feed import read_log
from contentapi.events.webhooks.bodies import find_actor
from contentapi.events.webhooks.models import PING, Delivery, DeliveryState, DisabledReason, Webhook
from contentapi.events.webhooks.planning import advance_subjects, plan
from contentapi.events.webhooks.retries import GONE, Result
from contentapi.monitoring.audit import Audit
from contentapi.monitoring.figures import FIGURES, Sample

MOST_TAKEN = 64  # deliveries of a webhook; of one that fails, one
MAX_ERROR = 500  # characters
FREE = "disabled_at IS NULL AND (lease IS NULL OR leased_until < clock_timestamp())"
# The pause of a webhook that collects events is over.
MAY_PLAN = "(planned_at IS NULL OR planned_at <= clock_timestamp() - coalesce * interval '1 second' OR coalesce = 0)"
# The webhooks that may have something to send: there are new events, a delivery is due, or a sender has vanished.
FIND = f"""
    SELECT id FROM events_webhook, (SELECT epoch AS present, position AS last FROM events_log) AS log
    WHERE {FREE} AND id <> ALL (%s) AND (
        (position < last OR epoch <> present) AND {MAY_PLAN} OR due_at <= clock_timestamp() OR lease IS NOT NULL
    )
    ORDER BY random() LIMIT %s
"""  # noqa: S608 - a constant
# Nobody waits for the row of a webhook that a service has locked.
CLAIM = f"""
    UPDATE events_webhook SET lease = %s,
        leased_until = clock_timestamp() + interval '{WEBHOOK_LEASE.total_seconds()} seconds'
    WHERE id = (SELECT id FROM events_webhook WHERE id = %s AND {FREE} FOR NO KEY UPDATE SKIP LOCKED)
    RETURNING *, {MAY_PLAN} AS may_plan
"""  # noqa: S608
# One statement for all results. The ids are there twice, so that PostgreSQL uses the index, whatever it knows of the
# table. What was not attempted, because the webhook may not see it any more, has no time.
RECORD = """
    WITH result (id, day, state, delay, status, error, started_at, seconds, response) AS (
        SELECT * FROM unnest(%s::bigint[], %s::date[], %s::text[], %s::float8[], %s::smallint[], %s::text[],
            %s::timestamptz[], %s::float8[], %s::text[])
    ), updated AS (
        UPDATE events_delivery AS delivery SET state = result.state,
            due_at = clock_timestamp() + delay * interval '1 second', status = result.status,
            error = result.error, attempts = attempts + (started_at IS NOT NULL)::int,
            tries = tries + (started_at IS NOT NULL)::int,
            finished_at = CASE WHEN result.state <> 'waiting' THEN clock_timestamp() END
        FROM result WHERE delivery.id = result.id AND delivery.day = result.day
            AND delivery.id = ANY (%s) AND delivery.day = ANY (%s)
            AND delivery.state = 'waiting'
        RETURNING delivery.id, delivery.attempts
    )
    INSERT INTO events_attempt (day, delivery_id, number, started_at, seconds, status, error, response)
    SELECT (now() AT TIME ZONE 'UTC')::date, id, attempts, started_at, seconds, status, error, response
    FROM updated JOIN result USING (id) WHERE started_at IS NOT NULL
"""
# A webhook is late since a delivery is due, or since it should have planned the next event of the log. One that
# collects events plans none while its receiver fails.
MEASURE = """
    SELECT count(*) FILTER (WHERE disabled_at IS NULL AND failing_since IS NULL),
        count(*) FILTER (WHERE disabled_at IS NULL AND failing_since IS NOT NULL),
        count(*) FILTER (WHERE disabled_at IS NOT NULL),
        coalesce(extract(epoch FROM clock_timestamp() - min(least(
            due_at,
            CASE WHEN coalesce = 0 OR failing_since IS NULL
                THEN event."timestamp" + coalesce * interval '1 second' END
        )) FILTER (WHERE disabled_at IS NULL)), 0)
    FROM events_webhook LEFT JOIN LATERAL (
        SELECT "timestamp" FROM events_event WHERE position = events_webhook.position + 1
    ) AS event ON true
"""
STATES = ("active", "failing", "disabled")
LOG = logging.getLogger("contentapi.worker")
MAILS = ThreadPoolExecutor(1, "webhook-mail")  # a mail server that hangs delays no delivery


class Claim(NamedTuple):
    """A webhook that a sender has claimed, with its rights, and the deliveries that it sends now."""

    webhook: Webhook
    actor: Actor
    deliveries: list[Delivery]


def find_webhooks(others: Collection[int] = (), most: int = MOST_TAKEN) -> list[int]:
    """Return the ids of webhooks for which there may be something to do, in any order, without `others`."""
    return fetch_column(FIND, [list(others), most])


@transaction.atomic
def claim(lease: UUID, webhook_id: int) -> Claim | None:
    """Claim a webhook that no sender has, plan what is new, and take deliveries that are due.

    Return None if somebody else has it locked. One whose maker is deleted or locked is disabled.
    """
    for webhook in Webhook.objects.raw(CLAIM, [lease, webhook_id]):
        actor = find_actor(webhook)
        if actor is None:
            disable(webhook, DisabledReason.MAKER)
            return None
        log = read_log()  # after the lock: another sender may have planned events until then
        is_new = (webhook.epoch, webhook.position) != (log.epoch, log.position)
        if is_new and webhook.may_plan:  # type: ignore[attr-defined]
            plan(webhook, actor, log)
        due = webhook.deliveries.filter(state=DeliveryState.WAITING, due_at__lte=Now()).order_by("due_at", "pk")
        return Claim(webhook, actor, list(due[: 1 if webhook.failing_since else MOST_TAKEN]))
    return None


@transaction.atomic
def record(lease: UUID, webhook_id: int, results: Sequence[Result]) -> bool:
    """Record the results of a webhook, and end its lease. Return False if a service has locked it.

    Nothing is recorded if the lease has ended: another sender sends the deliveries again.
    """
    leased = Webhook.objects.filter(pk=webhook_id, lease=lease)
    webhook = leased.select_for_update(no_key=True, skip_locked=True).first()
    if webhook is None:
        return not leased.exists()
    write_results(webhook, results)
    waiting = webhook.deliveries.filter(state=DeliveryState.WAITING, due_at__isnull=False).order_by("due_at")
    leased.update(lease=None, leased_until=None, due_at=waiting.values("due_at")[:1])
    note_health(webhook, results)
    for result in results:
        if result.started_at is not None:
            kind = "delivered" if result.state == DeliveryState.DELIVERED else "failed"
            FIGURES.count("contentapi_webhook_attempts_total", kind)
            FIGURES.count("contentapi_webhook_seconds_total", kind, amount=result.seconds)
    return True


def build_row(result: Result) -> tuple[Any, ...]:
    delivery, reply, started_at, seconds, state, delay, error = result
    body = reply.body.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    row = (delivery.pk, delivery.day, str(state), delay, reply.status)
    return (*row, error[:MAX_ERROR], started_at, seconds, body)


def write_results(webhook: Webhook, results: Sequence[Result]) -> None:
    """Write the states and the attempts of deliveries, and let the next one of each subject be due."""
    if not results:
        return
    columns = [list(column) for column in zip(*map(build_row, results), strict=True)]
    execute(RECORD, [*columns, *columns[:2]])
    ended = {result.delivery.subject_id for result in results if result.state != DeliveryState.WAITING}
    advance_subjects(webhook, ended)


def note_health(webhook: Webhook, results: Sequence[Result]) -> None:
    """Note since when a webhook has failed, from its attempts in their order. Disable it after 410 and after five days.

    Pings say nothing about events.
    """
    before = failing_since = webhook.failing_since
    for result in sorted(results, key=lambda result: result.started_at or timezone.now()):
        if result.started_at is None or result.delivery.type == PING:
            continue
        is_failure = result.state != DeliveryState.DELIVERED
        failing_since = (failing_since or result.started_at) if is_failure else None
    if failing_since != before:
        webhook.failing_since = failing_since
        webhook.save(update_fields=["failing_since"])
    if any(result.reply.status == GONE for result in results):
        disable(webhook, DisabledReason.GONE)
    elif failing_since is not None and timezone.now() - failing_since >= WEBHOOK_FAILURES_LIMIT:
        disable(webhook, DisabledReason.FAILURES)


def disable(webhook: Webhook, reason: DisabledReason) -> None:
    """Disable a webhook that is locked. What it has not sent waits until an admin enables it."""
    webhook.disabled_at, webhook.disabled_reason = timezone.now(), reason
    webhook.version += 1
    webhook.lease = webhook.leased_until = None
    webhook.save(update_fields=["disabled_at", "disabled_reason", "version", "lease", "leased_until"])
    Audit.WEBHOOK_DISABLED.record(WORKER, "webhook", webhook.pk, reason=str(reason))
    transaction.on_commit(partial(tell, webhook, reason), robust=True)


def tell(webhook: Webhook, reason: DisabledReason) -> None:
    LOG.warning("The webhook %s is disabled: %s.", webhook.pk, reason.label)
    users = get_user_model().objects.filter(pk=webhook.maker_id, is_active=True)
    email = users.values_list("email", flat=True).first() if conf.environment.email_url else None
    if email:
        values = {"name": webhook.name, "url": webhook.url, "reason": reason.label, "site": conf.origin or ""}
        text = render_to_string("contentapi/webhook_disabled.txt", values)
        mail = EmailMessage(f"The webhook {webhook.name} is disabled", text, to=[email])
        MAILS.submit(send_mail, webhook.pk, mail)


def send_mail(pk: int, mail: EmailMessage) -> None:
    """Send a mail. Log a failure, without the words of the server, which may repeat the address."""
    try:
        mail.send()
    except Exception as error:  # noqa: BLE001 - of whatever kind
        LOG.error("The mail about the webhook %s was not sent: %s", pk, type(error).__name__)  # noqa: TRY400 - without the traceback


def measure_webhooks() -> None:
    """Count the webhooks, and measure for how long the latest one has had something to send."""
    if not FIGURES.is_enabled:
        return
    [(*counts, late)] = fetch_rows(MEASURE)
    samples: list[Sample] = [("contentapi_webhook_waiting_seconds", (), max(0.0, float(late)))]
    samples += [("contentapi_webhooks", (state,), count) for state, count in zip(STATES, counts, strict=True)]
    FIGURES.measured["webhooks"] = samples
