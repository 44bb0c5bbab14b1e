"""The rules for addresses. No test here uses the database or the network."""

import socket
from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from pytest_django import Settings

from contentapi.core.errors import Invalid
from contentapi.events.webhooks.addresses import (
    AddressRefused,
    Target,
    is_host,
    iterate_forms,
    parse_url,
    require_allowed,
    resolve,
    validate_url,
)
from tests.environment import set_environment

GLOBAL = "93.184.215.14"
PATIENCE = 5  # seconds; each mutant that never answers waits for them
NO_CREDENTIALS = "The address must not have a user name, a password or a fragment."


def allow(settings: Settings, *networks: str) -> None:
    set_environment(settings, CONTENTAPI_WEBHOOK_NETWORKS=",".join(networks))


def refuse(url: Any) -> str:
    """Return the reason for which an address is not valid."""
    with pytest.raises(Invalid) as caught:
        validate_url(url)
    ((field, (message,)),) = caught.value.fields.items()
    assert field == "url"
    return message


@pytest.mark.parametrize(
    ("url", "scheme", "host", "port"),
    [
        ("https://example.com", "https", "example.com", 443),
        ("HTTPS://Example.COM:8443/a/b?c=d&e", "https", "example.com", 8443),
        ("http://example.com./?", "http", "example.com.", 80),
        ("https://xn--mnchen-3ya.de/", "https", "xn--mnchen-3ya.de", 443),
        (f"https://{GLOBAL}/%20", "https", GLOBAL, 443),
        ("https://[2606:4700::1]:443/", "https", "2606:4700::1", 443),
        ("https://a_b.example.com/~x", "https", "a_b.example.com", 443),
        (f"https://{'a' * 63}.example.com/", "https", f"{'a' * 63}.example.com", 443),
    ],
)
def test_parts_of_an_address(url: str, scheme: str, host: str, port: int) -> None:
    assert parse_url(url) == Target(url, scheme, host, port)
    if scheme == "https":
        assert validate_url(f" {url} ") == url


@pytest.mark.parametrize("text", ["", " ", None, "https://example.com/" + 1981 * "x"])
def test_length_of_an_address_is_limited(text: str | None) -> None:
    assert refuse(text).startswith("From 1 to 2000 characters are allowed (got ")
    assert validate_url("https://example.com/" + 1980 * "x")


def test_reason_names_the_rule(settings: Settings) -> None:
    assert refuse("http://example.com/").startswith("Only https is allowed.")
    assert refuse("ftp://example.com/").startswith("This must be an address that begins with https://")
    assert refuse("https://me@example.com/") == refuse("https://example.com/#x")
    assert refuse("https://me:secret@example.com/") == NO_CREDENTIALS
    assert refuse("x").startswith("This must be an address")
    assert refuse("https://127.0.0.1/") == "127.0.0.1 is not a public address."
    for url in ("https://example.com:0/", "https://:443/", "https://?x", "https://a..b/"):
        assert refuse(url) == "The address needs a valid host name and port."
    assert refuse("https://example.com:70000/") == "This is not a valid address."
    allow(settings, "127.0.0.0/8")
    assert validate_url("http://127.0.0.1:8000/")
    assert validate_url("http://localhost:8000/")
    assert refuse(f"http://{GLOBAL}/") == "http is only allowed to the networks of CONTENTAPI_WEBHOOK_NETWORKS."


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


HOSTS = ["example.com", "1.example", "x1", GLOBAL, "0x7g", "fe80::1"]
NUMBERS = ["a.b.1", "1.2.3", "127.0.0.1.", "0x7f.1", "0x", "256.1.1.1", "2130706433"]  # in disguise


def test_name_or_address_is_a_host_and_a_number_in_disguise_is_none() -> None:
    assert [host for host in (*HOSTS, *NUMBERS, "", "a..b", "-a", "é", "fe80::1%lo") if is_host(host)] == HOSTS


@pytest.mark.parametrize(
    ("address", "inner"),
    [
        ("10.0.0.1", []),
        ("2606:4700::1", []),
        ("2606:4700::5eff:7f00:1", []),
        ("::ffff:7f00:1", ["127.0.0.1"]),
        ("64:ff9b::7f00:1", ["127.0.0.1"]),
        ("2606:4700::5efe:7f00:1", ["127.0.0.1"]),  # ISATAP
        ("2606:4700::200:5efe:7f00:1", ["127.0.0.1"]),
    ],
)
def test_addresses_in_an_address(address: str, inner: list[str]) -> None:
    outer, *found = iterate_forms(ip_address(address))

    assert str(outer) == str(ip_address(address))
    assert [str(each) for each in found] == inner


# IANA's registries of special-purpose addresses (RFC 6890), multicast and reserved addresses
SPECIAL = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
    203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/32 2001:1::1/128
    2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28
    2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8
"""
AMONG_THEM = ["2001:200::1", "2606:4700::1", "192.0.1.0", "172.32.0.0", "100.128.0.1", "198.20.0.1", "223.255.255.255"]


def test_special_purpose_addresses_are_not_public_and_those_beside_them_are() -> None:
    for network in map(ip_network, SPECIAL.split()):
        for address in (network[0], network[-1]):
            with pytest.raises(AddressRefused, match=f"^{address} is not a public address"):
                require_allowed(address, "https")
    for text in AMONG_THEM:
        require_allowed(ip_address(text), "https")


def test_all_addresses_of_a_name_must_be_allowed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    allow(settings, "127.0.0.0/8")

    def look_up(host: str, port: int, *, type: int) -> list[Any]:  # noqa: A002
        assert (host, type) == ("example.com", socket.SOCK_STREAM)
        return [(socket.AF_INET, type, 6, "", (address, port)) for address in ("127.0.0.1", GLOBAL)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    assert resolve(parse_url("https://example.com/"), PATIENCE) == ["127.0.0.1", GLOBAL]
    with pytest.raises(AddressRefused, match=r"^http is only allowed to the networks"):
        resolve(parse_url("http://example.com/"), PATIENCE)


@pytest.mark.parametrize("error", [socket.gaierror(), UnicodeError()])  # unknown; a label of 64 characters
def test_name_without_an_address_is_refused(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", fail)

    with pytest.raises(AddressRefused, match=r"^The name cannot be resolved\.$"):
        resolve(parse_url("https://example.com/"), PATIENCE)
