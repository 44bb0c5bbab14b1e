"""The client's address, with and without proxies."""

import msgspec
import pytest
from pytest_django import Settings

from contentapi.http.client_address import client_address

CONNECTION = "203.0.113.7"


def be_behind(settings: Settings, proxies: int, header: str = "Forwarded") -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(
        settings.ENVIRONMENT, contentapi_trusted_proxies=proxies, contentapi_forwarded_header=header
    )


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


@pytest.mark.parametrize("header", ["Forwarded", "X-Forwarded-For"])
def test_forwarded_address_is_ignored_without_proxies(settings: Settings, header: str) -> None:
    be_behind(settings, 0, header)

    sent = {"HTTP_FORWARDED": "for=198.51.100.1", "HTTP_X_FORWARDED_FOR": "198.51.100.1"}

    assert client_address({"REMOTE_ADDR": CONNECTION, **sent}) == CONNECTION


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (1, "for=198.51.100.1", "198.51.100.1"),
        (1, "for=192.0.2.99, for=198.51.100.1;proto=https", "198.51.100.1"),
        (1, f"for=192.0.2.99;x={'x' * 300}, for=198.51.100.1", "198.51.100.1"),
        (2, 'for=192.0.2.99,for="198.51.100.1:4711" , for=10.0.0.2', "198.51.100.1"),
        (1, 'for="[2001:db8:9:9:1::1]:4711"', "2001:db8:9:9::/64"),
        (1, 'for="[::ffff:198.51.100.1]"', "198.51.100.1"),
        (2, "for=198.51.100.1", CONNECTION),
        (1, "", CONNECTION),
        (1, "for=198.51.100.999", CONNECTION),
        (1, 'for="[2001:db8:::1]"', CONNECTION),
    ],
)
def test_address_behind_proxies_is_that_of_the_first_proxys_element(
    settings: Settings, proxies: int, forwarded: str, address: str
) -> None:
    be_behind(settings, proxies)

    environ = {"REMOTE_ADDR": CONNECTION, "HTTP_FORWARDED": forwarded, "HTTP_X_FORWARDED_FOR": "192.0.2.98"}

    assert client_address(environ) == address


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (2, "192.0.2.99,198.51.100.1 , 10.0.0.2", "198.51.100.1"),
        (1, "2001:db8:9:9:1::1", "2001:db8:9:9::/64"),
        (2, "198.51.100.1", CONNECTION),
        (1, "", CONNECTION),
        (1, "198.51.100.1:4711", CONNECTION),
    ],
)
def test_setting_selects_x_forwarded_for(settings: Settings, proxies: int, forwarded: str, address: str) -> None:
    be_behind(settings, proxies, "X-Forwarded-For")

    environ = {"REMOTE_ADDR": CONNECTION, "HTTP_X_FORWARDED_FOR": forwarded, "HTTP_FORWARDED": "for=192.0.2.98"}

    assert client_address(environ) == address
