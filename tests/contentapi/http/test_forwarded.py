"""Addresses of clients in `Forwarded` and `X-Forwarded-For`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contentapi.http.client_address import find_forwarded_address, find_x_forwarded_for
from tests.thoroughness import scale_examples


@pytest.mark.parametrize(
    ("header", "number", "address"),
    [
        ("for=192.0.2.1", 1, "192.0.2.1"),
        ("FOR=192.0.2.1;proto=https;by=_proxy", 1, "192.0.2.1"),
        ("proto=https;for=192.0.2.1", 1, "192.0.2.1"),
        (";for=192.0.2.1;;", 1, "192.0.2.1"),
        ('for="192.0.2.1"', 1, "192.0.2.1"),
        ('for="192.0.2.1:4711"', 1, "192.0.2.1"),
        ('for="192.0.2.1:_port.1"', 1, "192.0.2.1"),
        (r'for="192\.0.2.\1"', 1, "192.0.2.1"),
        ('for="[2001:db8::7]"', 1, "2001:db8::7"),
        ('for="[2001:DB8::7]:4711"', 1, "2001:DB8::7"),
        ('for="[::ffff:192.0.2.1]"', 1, "::ffff:192.0.2.1"),
        ("for=192.0.2.1, for=192.0.2.2,for=192.0.2.3", 1, "192.0.2.3"),
        ("for=192.0.2.1, for=192.0.2.2,for=192.0.2.3", 3, "192.0.2.1"),
        ("for=192.0.2.1 \t,\tfor=192.0.2.2 ", 2, "192.0.2.1"),
        ("for=192.0.2.1,, ,for=192.0.2.2,", 2, "192.0.2.1"),
        ('for=192.0.2.1;host="a,for=192.0.2.66"', 1, "192.0.2.1"),
        ('for=192.0.2.1;host="a,for=192.0.2.66;b=";proto="c,d=e"', 1, "192.0.2.1"),
        (r'for=192.0.2.1;host="a\",for=192.0.2.66;b=\""', 1, "192.0.2.1"),
        ('for="192.0.2.66, for=192.0.2.1', 1, "192.0.2.1"),  # the client sent one quotation mark
        ("for=192.0.2.66\\, for=192.0.2.1", 1, "192.0.2.1"),
    ],
)
def test_address_is_that_of_the_element(header: str, number: int, address: str) -> None:
    assert find_forwarded_address(header, number) == address


@pytest.mark.parametrize(
    "header",
    [
        "",
        ",",
        "192.0.2.1",
        "for",
        "for=",
        "for=unknown",
        "for=_hidden",
        'for="_hidden:80"',
        "for=192.0.2.1:80",  # a colon must be quoted
        "for=[2001:db8::7]",
        'for="2001:db8::7"',  # an IPv6 address must be in brackets
        'for="[2001:db8::7"',
        'for="[192.0.2.1]"',
        'for="192.0.2.1:"',
        'for="192.0.2.1:123456"',
        'for="192.0.2.1',
        'for=192.0.2.1"',
        "for=192.0.2.1;for=192.0.2.2",
        "for=192.0.2.1;proto=http;proto=https",
        "for = 192.0.2.1",
        "for=192.0.2.1; proto=https",
        "by=192.0.2.1;proto=https",
        "x-for=192.0.2.1",
        "for=192.0.2.1, for=unknown",
        "for=192.0.2.1, for=192.0.2.2:80",
        'for=192.0.2.1, for=192.0.2.2;host="a',
        "for=192.0.2.\u0661",
    ],
)
def test_malformed_or_hidden_address_is_none(header: str) -> None:
    assert find_forwarded_address(header, 1) is None


def test_missing_element_is_none() -> None:
    assert find_forwarded_address("for=192.0.2.1, for=192.0.2.2", 3) is None
    assert find_x_forwarded_for("192.0.2.1, 192.0.2.2", 3) is None


@pytest.mark.parametrize(
    ("header", "number", "entry"),
    [
        ("192.0.2.1", 1, "192.0.2.1"),
        ("192.0.2.1, 2001:db8::7", 1, "2001:db8::7"),
        ("192.0.2.1,192.0.2.2 , 192.0.2.3", 2, "192.0.2.2"),
        ("192.0.2.1,", 1, None),
        ("", 1, None),
        ("1" * 101, 1, None),
    ],
)
def test_entry_of_x_forwarded_for_is_counted_from_the_end(header: str, number: int, entry: str | None) -> None:
    assert find_x_forwarded_for(header, number) == entry


ADDRESSES = st.ip_addresses().map(str)
SENT = st.lists(st.sampled_from(["for", "=", ",", ";", '"', "\\", '\\"', ' "', "192.0.2.66", 'for="', "é"])).map(
    "".join
)


def quote(text: str, escaped: set[str]) -> str:
    """Return a quoted string. A character may be escaped that need not be."""
    return '"' + "".join(f"\\{each}" if each in escaped | {'"', "\\"} else each for each in text) + '"'


@st.composite
def build_elements(draw: st.DrawFn) -> tuple[str, str]:
    """Return a valid element, and the address of its `for`."""
    address = draw(ADDRESSES)
    port = draw(st.sampled_from(["", ":0", ":65535", ":_port"]))
    node = f"[{address}]{port}" if ":" in address else f"{address}{port}"
    is_token = ":" not in node
    pairs = [f"{draw(st.sampled_from(['for', 'For', 'FOR']))}={node if is_token else quote(node, set())}"]
    text = st.text(st.sampled_from('ab,;="\\ .:é\t'))
    names = draw(st.lists(st.sampled_from(["by", "host", "proto", "secret"]), unique=True))
    pairs += [f"{name}={quote(draw(text), draw(st.sets(st.sampled_from('ab,'))))}" for name in names]
    return ";".join(draw(st.permutations(pairs))), address


@pytest.mark.property
@settings(max_examples=scale_examples(2000), deadline=None)
@given(sent=SENT, elements=st.lists(build_elements(), min_size=1, max_size=3), separator=st.sampled_from([",", ", "]))
def test_client_cannot_change_what_its_proxies_add(sent: str, elements: list[tuple[str, str]], separator: str) -> None:
    header = separator.join([sent, *(element for element, _ in elements)])

    assert find_forwarded_address(header, len(elements)) == elements[0][1]
