"""The client's address, with and without proxies."""

from typing import Any

import msgspec
import pytest
from pytest_django import Settings

from contentapi.http.client_address import client_address


def behind(settings: Settings, proxies: int) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_trusted_proxies=proxies)


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::9", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
        ("unix:", "unknown"),
    ],
)
def test_key_is_an_ipv4_address_or_an_ipv6_network(remote: str, address: str) -> None:
    assert client_address({"REMOTE_ADDR": remote}) == address


def test_clients_of_a_socket_file_share_one_key() -> None:
    assert client_address({}) == "unknown"


def test_forwarded_address_is_ignored_without_proxies() -> None:
    environ = {"REMOTE_ADDR": "203.0.113.7", "HTTP_X_FORWARDED_FOR": "198.51.100.1"}

    assert client_address(environ) == "203.0.113.7"


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (1, "198.51.100.1", "198.51.100.1"),
        (1, "192.0.2.99, 198.51.100.1", "198.51.100.1"),
        (2, "192.0.2.99,198.51.100.1 , 10.0.0.2", "198.51.100.1"),
        (1, "2001:db8:9:9:1::1", "2001:db8:9:9::/64"),
        (2, "198.51.100.1", "203.0.113.7"),
        (1, "", "203.0.113.7"),
        (1, "198.51.100.1, unknown", "203.0.113.7"),
        (1, "198.51.100.1:4711", "203.0.113.7"),
    ],
)
def test_address_behind_proxies_is_the_entry_of_the_first_proxy(
    settings: Settings, proxies: int, forwarded: str, address: str
) -> None:
    behind(settings, proxies)

    environ: dict[str, Any] = {"REMOTE_ADDR": "203.0.113.7", "HTTP_X_FORWARDED_FOR": forwarded}

    assert client_address(environ) == address


def test_missing_entry_falls_back_to_the_connection(settings: Settings) -> None:
    behind(settings, 1)

    assert client_address({"REMOTE_ADDR": "203.0.113.7"}) == "203.0.113.7"
