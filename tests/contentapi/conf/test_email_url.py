"""EMAIL_URL: Django's settings for each form, and one error without the password for what cannot be used."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from contentapi.conf.environment import parse_email_url
from tests.environment import SECRETS, check

UNUSABLE = [
    "hush",
    "http://app:hush@mail.invalid",
    "smtp://app:hush@mail.invalid",  # no sender
    "smtp://?from=desk@example.com",
    "smtp://app:hush@mail.invalid:http?from=desk@example.com",
    "smtp://app:hush@mail.invalid:99999?from=desk@example.com",
    "smtp://app:hush@mail.invalid/path?from=desk@example.com",
    "smtp://app:hush@[::1?from=desk@example.com",
    "smtp://app:hush@mail.invalid?from=desk@example.com&tls=maybe",
    "smtp://app:hush@mail.invalid?from=desk@example.com&colour=red",
    "smtp://app:hush@mail.invalid?from=desk@example.com%0ABcc:all@example.com",
    "smtp://app:hush@mail.invalid?hush",
    "file://folder/mails",
    "file:///",
]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://app:p%40ss@mail.invalid?from=desk@example.com", ("mail.invalid", 587, "app", "p@ss", True, False)),
        ("smtps://desk%40example.com:x@mail.invalid", ("mail.invalid", 465, "desk@example.com", "x", False, True)),
        ("smtp://localhost:25?from=desk@example.com&tls=off", ("localhost", 25, "", "", False, False)),
        ("smtp://[::1]:2525?from=Desk%20<desk@example.com>", ("::1", 2525, "", "", True, False)),
    ],
)
def test_smtp_address_becomes_the_settings_of_django(url: str, expected: tuple[object, ...]) -> None:
    found = parse_email_url(url)

    names = ("HOST", "PORT", "HOST_USER", "HOST_PASSWORD", "USE_TLS", "USE_SSL")
    assert tuple(found[f"EMAIL_{name}"] for name in names) == expected
    assert found["EMAIL_BACKEND"] == "django.core.mail.backends.smtp.EmailBackend"
    assert "desk@example.com" in found["DEFAULT_FROM_EMAIL"]


def test_folder_gets_the_mails_as_files() -> None:
    assert parse_email_url("file:///var/my%20mails") == {
        "DEFAULT_FROM_EMAIL": "content-api@localhost",
        "EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend",
        "EMAIL_FILE_PATH": "/var/my mails",
    }


@given(user=st.text(st.characters(codec="utf-8"), min_size=1), password=st.text(st.characters(codec="utf-8")))
def test_user_and_password_of_any_characters_are_read(user: str, password: str) -> None:
    url = f"smtps://{quote(user, safe='')}:{quote(password, safe='')}@mail.invalid?from=desk@example.com"

    found = parse_email_url(url)

    assert (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"]) == (user, password)


@given(st.text() | st.text().map("smtp://{}".format) | st.text().map("file:///{}".format))
def test_no_text_is_an_exception(url: str) -> None:
    assert isinstance(parse_email_url(url), dict)


@pytest.mark.parametrize("url", UNUSABLE)
def test_unusable_address_is_one_error_without_the_password(settings: Settings, url: str) -> None:
    errors = check(settings, EMAIL_URL=url)

    assert [error.id for error in errors] == ["contentapi.EMAIL_URL"]
    assert "hush" not in f"{errors[0].msg} {errors[0].hint}"


def test_deployment_with_mail_needs_its_public_address(settings: Settings) -> None:
    variables = {
        "DATABASE_URL": "postgresql://db.invalid/app",
        "EMAIL_URL": "smtp://mail.invalid?from=desk@example.com",
        **SECRETS,
    }

    errors = check(settings, **variables)

    assert [error.msg for error in errors] == ["EMAIL_URL requires CONTENTAPI_PUBLIC_URL when DATABASE_URL is set."]
    assert check(settings, **variables, CONTENTAPI_PUBLIC_URL="https://api.example.com") == []
