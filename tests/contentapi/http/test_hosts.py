"""The public URL and the issuer of tokens."""

import pytest
from msgspec import structs
from pytest_django import Settings

from contentapi.conf import conf
from contentapi.http.hosts import get_request_origin, is_issuer


def test_public_url_is_the_only_issuer(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://api.example.com"

    assert conf.origin == "https://api.example.com"
    assert is_issuer("https://api.example.com")
    for other in ("https://api.example.com/", "http://api.example.com", "http://localhost:8000", ""):
        assert not is_issuer(other)


@pytest.mark.parametrize(
    "origin",
    ["http://localhost:8000", "http://localhost:8001", "https://localhost", "http://127.0.0.1:80", "http://[::1]:8000"],
)
def test_each_allowed_host_is_an_issuer_without_a_public_url(settings: Settings, origin: str) -> None:
    settings.PUBLIC_URL = ""
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]

    assert is_issuer(origin)
    assert is_issuer(conf.origin)


@pytest.mark.parametrize(
    "text",
    ["", "localhost", "http://", "http://evil.invalid", "http://localhost/", "http://localhost:8000/x", "ftp://localhost",
     "http://evil.invalid@localhost", "http://localhost@evil.invalid", "http://localhost#", "http://localhost?", "http://localhost:8000\n",
     " http://localhost", "http://local host", "http://localhost:port"],
)  # fmt: skip
def test_other_hosts_are_no_issuer_without_a_public_url(settings: Settings, text: str) -> None:
    settings.PUBLIC_URL = ""
    settings.ALLOWED_HOSTS = ["localhost"]

    assert not is_issuer(text)


@pytest.mark.parametrize(
    ("hosts", "https", "origin"),
    [
        (("localhost", "127.0.0.1"), False, "http://localhost:8000"),
        ((".example.com",), True, "https://example.com"),
        (("*", "api.example.com"), True, "https://api.example.com"),
        (("*",), False, "http://localhost:8000"),
    ],
)
def test_public_url_defaults_to_the_first_allowed_host(
    settings: Settings, hosts: tuple[str, ...], *, https: bool, origin: str
) -> None:
    settings.ENVIRONMENT = structs.replace(settings.ENVIRONMENT, allowed_hosts=hosts, port=8000)
    settings.PUBLIC_URL, settings.HTTPS, settings.ALLOWED_HOSTS = "", https, list(hosts)

    assert conf.origin == origin
    assert is_issuer(origin)


@pytest.mark.parametrize(
    ("public_url", "scheme", "environ", "origin"),
    [
        ("", "http", {"HTTP_HOST": "localhost:8000"}, "http://localhost:8000"),
        ("", "http", {"HTTP_HOST": "[::1]:8000"}, "http://[::1]:8000"),
        ("", "https", {"HTTP_HOST": "api.example.com"}, "https://api.example.com"),
        ("", "http", {}, "http://localhost:8000"),
        ("https://api.example.com", "http", {"HTTP_HOST": "localhost:8000"}, "https://api.example.com"),
    ],
)
def test_origin_of_a_request_is_the_public_url_or_its_host(
    settings: Settings, public_url: str, scheme: str, environ: dict[str, str], origin: str
) -> None:
    settings.PUBLIC_URL, settings.HTTPS, settings.ALLOWED_HOSTS = public_url, scheme == "https", ["localhost"]

    assert get_request_origin(environ) == origin
