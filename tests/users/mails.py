"""Mails that this process has sent, and the links in them."""

import re

import msgspec
from django.core import mail
from django.test import Client
from pytest_django import Settings

from users.mail import OUTBOX

FORGOTTEN = "/admin/password/forgotten"
LINK = re.compile(r"http://localhost:8000(/admin/password/link\?\S+)")
NEW = "fourteen lamps and a harbour"


def turn_mail_on(settings: Settings) -> None:
    """Let mails be collected in `mail.outbox`, which has none of an earlier test."""
    wait_for_mails()
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, email_url="file:///unused")


def wait_for_mails() -> list[mail.EmailMessage]:
    """Return the mails since the last call."""
    OUTBOX.wait()
    found = list(mail.outbox)
    mail.outbox.clear()
    return found


def find_link(message: mail.EmailMessage) -> str:
    """Return the link in a mail, without the origin."""
    found = LINK.search(str(message.body))
    assert found is not None, message.body
    return found[1]


def ask_for_link(email: str, address: str = "192.0.2.1") -> int:
    return Client(REMOTE_ADDR=address).post(FORGOTTEN, {"email": email}).status_code


def choose(browser: Client, link: str, password: str = NEW) -> int:
    """Follow a link, and send the form if there is one. Return the last status."""
    opened = browser.get(link)
    if opened.status_code != 302:
        return opened.status_code
    return browser.post(opened["Location"], {"new_password1": password, "new_password2": password}).status_code
