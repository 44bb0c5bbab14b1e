"""Disable a webhook to which nothing can be sent: with a line of both logs, and a mail to its maker."""

import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from django.contrib.auth import get_user_model
from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import timezone

from contentapi.conf import conf
from contentapi.core.identity import WORKER
from contentapi.events.webhooks.models import DisabledReason, Webhook
from contentapi.monitoring.audit import Audit

LOG = logging.getLogger("contentapi.worker")
MAILS = ThreadPoolExecutor(1, "webhook-mail")  # a mail server that hangs delays no delivery
TEXT = """The webhook "{name}" sends nothing any more: {reason}.

Address: {url}

When the receiver works again, enable the webhook. It continues where it stopped, as far as the events are kept.
{site}
"""


def disable(webhook: Webhook, reason: DisabledReason) -> None:
    """Disable a webhook that is locked. What it has not sent waits until an admin enables it."""
    webhook.disabled_at, webhook.disabled_reason = timezone.now(), reason
    webhook.version += 1
    webhook.lease = webhook.leased_until = None
    webhook.save(update_fields=["disabled_at", "disabled_reason", "version", "lease", "leased_until"])
    Audit.WEBHOOK_DISABLED.record(WORKER, "webhook", webhook.pk, reason=str(reason))
    transaction.on_commit(partial(tell, webhook.pk, webhook.name, webhook.url, webhook.maker_id, reason), robust=True)


def tell(pk: int, name: str, url: str, maker_id: int, reason: DisabledReason) -> None:
    LOG.warning("The webhook %s is disabled: %s.", pk, reason.label)
    users = get_user_model().objects.filter(pk=maker_id, is_active=True)
    email = users.values_list("email", flat=True).first() if conf.environment.email_url else None
    if email:
        text = TEXT.format(name=name, url=url, reason=reason.label, site=conf.origin or "")
        MAILS.submit(send_mail, pk, EmailMessage(f"The webhook {name} is disabled", text, to=[email]))


def send_mail(pk: int, mail: EmailMessage) -> None:
    """Send a mail. Log a failure, without the words of the server, which may repeat the address."""
    try:
        mail.send()
    except Exception as error:  # noqa: BLE001 - of whatever kind
        LOG.error("The mail about the webhook %s was not sent: %s", pk, type(error).__name__)  # noqa: TRY400 - without the traceback
