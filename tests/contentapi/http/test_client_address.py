"""Whom an address stands for, and whose word for it is taken."""

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
def test_a_client_is_its_ipv4_address_or_its_ipv6_network(remote: str, address: str) -> None:
    assert client_address({"REMOTE_ADDR": remote}) == address


def test_a_socket_file_gives_all_one_key() -> None:
    assert client_address({}) == "unknown"


def test_what_a_client_says_of_itself_is_not_heeded() -> None:
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
def test_behind_proxies_the_entry_of_the_first_of_them_counts(
    settings: Settings, proxies: int, forwarded: str, address: str
) -> None:
    behind(settings, proxies)

    environ: dict[str, Any] = {"REMOTE_ADDR": "203.0.113.7", "HTTP_X_FORWARDED_FOR": forwarded}

    assert client_address(environ) == address


def test_a_missing_forward_is_the_connections_other_end(settings: Settings) -> None:
    behind(settings, 1)

    assert client_address({"REMOTE_ADDR": "203.0.113.7"}) == "203.0.113.7"
