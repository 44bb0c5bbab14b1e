"""The rules for addresses. No test here uses the database or the network."""

from ipaddress import ip_address
from typing import Any

import msgspec
import pytest
from pytest_django import Settings

from contentapi.conf import conf
from contentapi.core.errors import Invalid
from contentapi.events.webhooks.addresses import AddressRefused, Target, parse_url, require_allowed, validate_url

GLOBAL = "93.184.215.14"


def allow(settings: Settings, *networks: str) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(conf.environment, contentapi_webhook_networks=networks)


def refuse(url: Any) -> str:
    """Return the reason for which an address is not valid."""
    with pytest.raises(Invalid) as caught:
        validate_url(url)
    ((field, (message,)),) = caught.value.fields.items()
    assert field == "url"
    return message


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://example.com", ("https", "example.com", 443, "example.com", "/")),
        ("HTTPS://Example.COM:8443/a/b?c=d&e", ("https", "example.com", 8443, "Example.COM:8443", "/a/b?c=d&e")),
        ("http://example.com./?", ("http", "example.com.", 80, "example.com.", "/")),
        ("https://xn--mnchen-3ya.de/", ("https", "xn--mnchen-3ya.de", 443, "xn--mnchen-3ya.de", "/")),
        (f"https://{GLOBAL}/%20", ("https", GLOBAL, 443, GLOBAL, "/%20")),
        ("https://[2606:4700::1]:443/", ("https", "2606:4700::1", 443, "[2606:4700::1]:443", "/")),
        ("https://a_b.example.com/~x", ("https", "a_b.example.com", 443, "a_b.example.com", "/~x")),
        (f"https://{'a' * 63}.example.com/", ("https", f"{'a' * 63}.example.com", 443, f"{'a' * 63}.example.com", "/")),
    ],
)
def test_parts_of_an_address(url: str, target: tuple[str, str, int, str, str]) -> None:
    assert parse_url(url) == Target(*target)
    if target[0] == "https":
        assert validate_url(f" {url} ") == url


@pytest.mark.parametrize("text", ["", " ", None, "https://example.com/" + 1981 * "x"])
def test_length_of_an_address_is_limited(text: str | None) -> None:
    assert refuse(text).startswith("From 1 to 2000 characters are allowed (got ")
    assert validate_url("https://example.com/" + 1980 * "x")


def test_reason_names_the_rule(settings: Settings) -> None:
    assert refuse("http://example.com/").startswith("Only https is allowed.")
    assert refuse("ftp://example.com/").startswith("This must be an address that begins with https://")
    assert refuse("https://me@example.com/") == refuse("https://example.com/#x")
    assert "user name" in refuse("https://me:secret@example.com/")
    assert refuse("https://127.0.0.1/") == "127.0.0.1 is not a public address."
    assert refuse("https://example.com:0/") == "The address needs a valid host name and port."
    assert refuse("https://example.com:70000/") == "This is not a valid address."
    allow(settings, "127.0.0.0/8")
    assert validate_url("http://127.0.0.1:8000/")
    assert validate_url("http://localhost:8000/")
    assert refuse(f"http://{GLOBAL}/").startswith("http is only allowed to the networks")


@pytest.mark.parametrize(
    ("networks", "address", "is_allowed"),
    [
        (["10.0.0.0/8"], "10.255.255.255", True),
        (["10.0.0.0/8"], "11.0.0.0", True),  # it is public
        (["10.0.0.0/8"], "192.168.0.1", False),
        (["10.0.0.0/8"], "::ffff:10.0.0.1", True),
        (["10.0.0.0/8"], "64:ff9b::a00:1", False),
        (["10.0.0.0/8", "fd00::/8"], "fd00::1", True),
        (["fd00::/8"], "10.0.0.1", False),
        (["64:ff9b::/96"], "64:ff9b::a00:1", True),
        (["::1/128"], "::1", True),
        (["::1/128"], "127.0.0.1", False),
    ],
)
def test_operators_allow_networks(settings: Settings, networks: list[str], address: str, is_allowed: bool) -> None:  # noqa: FBT001
    allow(settings, *networks)
    if is_allowed:
        require_allowed(ip_address(address), "https")
    else:
        with pytest.raises(AddressRefused, match="is not a public address"):
            require_allowed(ip_address(address), "https")
