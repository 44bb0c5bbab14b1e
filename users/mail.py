"""Mails with a link at which a person chooses a password. A thread sends them, after the response of the request.

The time of a response must not show whether there is an account with an email. So a request only adds to a queue: a
user or, for an unknown email, None. What differs begins after `MAIL_DELAY`, when the response has been sent.
A mail that cannot be sent is not tried again: the person asks for another one.
"""

import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.urls import reverse

from contentapi.conf import conf
from contentapi.conf.timeouts import MAIL_DELAY, PASSWORD_LINK_LIFETIME
from users.models import User

LOG = logging.getLogger("users.mail")
MAX_WAITING = 1000


class Kind(NamedTuple):
    """A kind of mail: its subject, and its template."""

    subject: str
    template: str


NEW_PASSWORD = Kind("A new password", "users/new_password.txt")
INVITATION = Kind("Your account", "users/invitation.txt")


def is_mail_on() -> bool:
    return bool(conf.environment.email_url)


class Outbox:
    """The mails that wait to be sent. The thread starts with the first one, in the process that sends it."""

    def __init__(self) -> None:
        self.room = BoundedSemaphore(MAX_WAITING)
        self.thread = ThreadPoolExecutor(1, "mail")

    def add(self, user: User | None, kind: Kind) -> None:
        """Send a mail to a user soon, or none. The caller cannot see which, and waits for neither."""
        if self.room.acquire(blocking=False):
            self.thread.submit(send_at, time.monotonic() + MAIL_DELAY, user, kind).add_done_callback(self.release)
        else:
            LOG.error("%d mails are waiting. One more is not sent.", MAX_WAITING)

    def release(self, _: Future[Any]) -> None:
        self.room.release()

    def wait(self) -> None:
        """Wait until all mails that were added have been sent."""
        self.thread.submit(bool).result()


OUTBOX = Outbox()


def send_at(due: float, user: User | None, kind: Kind) -> None:
    """Send a mail at a time. A failure is logged without the email and the words of the server, which may repeat it."""
    time.sleep(max(0.0, due - time.monotonic()))
    try:
        if user is not None:
            build_mail(user, kind).send()
    except Exception as error:  # noqa: BLE001 - whatever the backend raises, the next mail is sent
        reason = f"{type(error).__name__} {getattr(error, 'smtp_code', '')}".strip()
        LOG.error("A mail to the user %s was not sent: %s", user and user.pk, reason)  # noqa: TRY400


def build_mail(user: User, kind: Kind) -> EmailMessage:
    context = {"user": user, "site": conf.origin, "link": build_link(user), "days": PASSWORD_LINK_LIFETIME.days}
    headers = {"Auto-Submitted": "auto-generated"}
    return EmailMessage(kind.subject, render_to_string(kind.template, context), to=[user.email], headers=headers)


def build_link(user: User) -> str:
    """Return a link that is valid until the password changes or the user logs in.

    It begins with the public address, whatever host a request names. The token is in the query, which no log contains.
    """
    query = {"user": user.pk, "token": default_token_generator.make_token(user)}
    return f"{conf.origin}{reverse('password_link')}?{urlencode(query)}"
