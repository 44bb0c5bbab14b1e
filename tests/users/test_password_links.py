"""Links in mails, at which people choose their passwords: who gets one, and when it is valid."""

import logging
from datetime import datetime, timedelta
from smtplib import SMTPSenderRefused
from typing import Any

import msgspec
import pytest
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.contrib.sessions.models import Session
from django.core.mail import EmailMessage
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from contentapi.auth.sessions import SessionStore
from contentapi.core.errors import Conflict
from contentapi.core.identity import OPERATOR
from tests.factories import make_user
from tests.users.mails import NEW, ask_for_link, choose, find_link, turn_mail_on, wait_for_mails
from tests.users.oauth.flow import PASSWORD, make_member
from users import mail, password_links, services
from users.models import User


@pytest.fixture(autouse=True)
def mail_is_on(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    turn_mail_on(settings)
    monkeypatch.setattr("users.mail.MAIL_DELAY", 0.0)


def request_link(user: User) -> str:
    password_links.request_link(user)
    [message] = wait_for_mails()
    return find_link(message)


def test_mail_goes_to_the_email_of_the_account_with_a_link_to_the_public_address() -> None:
    user = make_member()
    User.objects.filter(pk=user.pk).update(email="Ines@example.invalid")

    Client(headers={"Host": "127.0.0.1"}).post("/admin/password/forgotten", {"email": "INES@example.invalid"})

    [message] = wait_for_mails()
    assert (message.to, message.from_email) == (["Ines@example.invalid"], "webmaster@localhost")
    assert "127.0.0.1" not in str(message.body)
    assert f"Hello {user.name}," in str(message.body)
    assert choose(Client(), find_link(message)) == 302


@pytest.mark.parametrize("values", [{"is_active": False}, {"password": "!unusable"}])
def test_account_that_cannot_log_in_with_a_password_gets_no_mail(values: dict[str, Any]) -> None:
    user = make_user(**{"password": "argon2$x", **values})

    password_links.request_link(user)

    assert wait_for_mails() == []


def test_link_sets_the_password_once_and_ends_all_sessions() -> None:
    user = make_member("editor")
    session = Client()
    assert session.login(username=user.email, password=PASSWORD)
    user.refresh_from_db()
    link = request_link(user)

    first, second = choose(Client(), link), choose(Client(), link, "another long passphrase")

    user.refresh_from_db()
    assert (first, second) == (302, 404)
    assert user.check_password(NEW)
    assert session.get("/admin/").status_code == 302
    assert Client().login(username=user.email, password=NEW)


def test_no_session_has_a_followed_link_that_can_be_read() -> None:
    browser, link = Client(), request_link(make_member("editor"))

    opened = browser.get(link)

    (stored,) = [SessionStore().decode(session.session_data) for session in Session.objects.all()]
    assert link.partition("token=")[2] not in str(stored)
    assert browser.get(opened["Location"]).status_code == 200


def test_login_ends_a_link() -> None:
    user = make_member()
    link = request_link(user)

    assert Client().login(username=user.email, password=PASSWORD)

    assert choose(Client(), link) == 404


def test_link_is_valid_for_three_days(monkeypatch: pytest.MonkeyPatch) -> None:
    user = make_member()
    link = request_link(user)

    def open_after(age: timedelta) -> int:
        def get_time(_: PasswordResetTokenGenerator) -> datetime:
            return datetime.now() + age  # noqa: DTZ005 - as Django counts

        monkeypatch.setattr(PasswordResetTokenGenerator, "_now", get_time)
        return Client().get(link).status_code

    assert [open_after(timedelta(days=3) + timedelta(minutes=change)) for change in (-1, 1)] == [302, 404]


@pytest.mark.parametrize("values", ["other", "locked", "unknown", "forged", "no id", "nothing"])
def test_link_that_does_not_fit_the_account_is_refused(values: str) -> None:
    user, other = make_member(), make_member()
    link = request_link(user)
    own, others = (mail.build_link(each).partition("user=")[2].partition("&")[0] for each in (user, other))
    if values == "locked":
        services.lock_user(actor=OPERATOR, user_id=str(user.pk))
    changed = {
        "other": link.replace(f"user={own}", f"user={others}"),
        "locked": link,
        "unknown": link.replace(f"user={own}", "user=99999999999999999999999999"),
        "forged": f"{link}0",
        "no id": link.replace(f"user={own}", "user=%00"),
        "nothing": link.partition("?")[0],
    }[values]

    assert choose(Client(), changed) == 404
    assert Client().login(username=other.email, password=PASSWORD)


def test_failing_mail_server_is_an_error_in_the_log_without_the_email(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    user = make_member()

    def refuse(_: EmailMessage) -> int:
        raise SMTPSenderRefused(550, b"secret words", user.email)

    monkeypatch.setattr(EmailMessage, "send", refuse)
    with caplog.at_level(logging.ERROR, "users.mail"):
        status = ask_for_link(user.email)
        mail.OUTBOX.wait()

    [record] = caplog.records
    assert status == 302
    assert record.getMessage() == f"A mail to the user {user.pk} was not sent: SMTPSenderRefused 550"


def test_full_outbox_drops_mails_and_says_so(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(mail, "MAX_WAITING", 1)
    outbox = mail.Outbox()
    outbox.room.acquire()

    with caplog.at_level(logging.ERROR, "users.mail"):
        outbox.add(make_member(), mail.NEW_PASSWORD)
    outbox.room.release()
    for _ in range(3):
        outbox.add(None, mail.NEW_PASSWORD)
        outbox.wait()

    assert [record.getMessage() for record in caplog.records] == ["1 mails are waiting. One more is not sent."]


def test_invited_user_chooses_the_first_password(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    user = services.create_user(actor=OPERATOR, email="ines@example.invalid", name="Ines")

    with django_capture_on_commit_callbacks(execute=True):
        password_links.invite_user(actor=OPERATOR, user_id=str(user.pk))

    [message] = wait_for_mails()
    assert (message.subject, message.to) == ("Your account", [user.email])
    assert choose(Client(), find_link(message)) == 302
    assert Client().login(username=user.email, password=NEW)


@pytest.mark.parametrize(
    ("values", "message"),
    [({"password": "argon2$x"}, "has a password"), ({"password": "!", "is_active": False}, "is locked")],
)
def test_user_who_needs_no_invitation_gets_none(values: dict[str, Any], message: str) -> None:
    user = make_user(**values)

    with pytest.raises(Conflict, match=message):
        password_links.invite_user(actor=OPERATOR, user_id=str(user.pk))


def test_invitation_without_a_mail_server_is_refused(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, email_url="")

    with pytest.raises(Conflict, match="EMAIL_URL"):
        password_links.invite_user(actor=OPERATOR, user_id=str(make_user(password="!").pk))
