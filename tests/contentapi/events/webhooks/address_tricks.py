"""Addresses by which somebody may try to let the server send a webhook into its own network.

`{port}` is the port of a receiver on 127.0.0.1 and ::1. `GLOBAL` is an address that everybody can reach.
"""

from typing import NamedTuple

GLOBAL, GLOBAL_6 = "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"

# What the address of a webhook may have in place of its host: this machine, numbers in other bases, other digits, this
# machine in IPv6, IPv4 in IPv6 (mapped, compatible, translated, NAT64, 6to4, Teredo), zones and networks of a site,
# special blocks of IPv6 and of IPv4. The system's resolver takes some of them for 127.0.0.1.
TRICKS = """
    127.0.0.1 127.255.255.254 0 0.0.0.0 127.0.0.1. localhost LOCALHOST.
    2130706433 4294967296 0177.0.0.1 0000000177.0000.00.01 0x7f.0.0.1 0x7f000001 0x7f.0.0.01 127.1 127.0.1
    %31%32%37.0.0.1
    \uff11\uff12\uff17.0.0.1 \u2460\u2461\u2466.\u24ea.\u24ea.\u2460 127\u30020\u30020\u30021
    \u0661\u0662\u0667.\u0660.\u0660.\u0661 local\xadhost \uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54
    [::1] [0000:0000:0000:0000:0000:0000:0000:0001] [::] [::1%251]
    [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:a00:1] [::127.0.0.1] [::ffff:0:127.0.0.1] [64:ff9b::7f00:1]
    [64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:c0a8:101::1] [2001:0:5db8:d70e:0:0:80ff:fffe]
    [2001:0:7f00:1:0:0:a247:28f1]
    [fe80::1%25lo] [fe80::1%lo] [fe80::1] [fd00::1] [fec0::1] [fd00:ec2::254]
    [ff02::1] [2001:db8::1] [3fff::1] [100::1] [4000::1] [5f00::1] [2001:10::1] [2001:2::1]
    10.0.0.1 172.16.0.1 192.168.0.1 169.254.169.254 100.64.0.1 192.0.0.1 192.0.2.1 198.18.0.1 224.0.0.1
    240.0.0.1 255.255.255.255
"""
HOSTS = TRICKS.split()

# Complete addresses, which parsers of URLs read differently.
URLS = {
    "credentials": "https://user:password@127.0.0.1:{port}/",
    "a name as credentials": "https://example.com@127.0.0.1:{port}/",
    "a name as credentials with a port": "https://example.com:443@127.0.0.1:{port}/",
    "two at signs": "https://example.com@127.0.0.1:{port}@example.com/",
    "a fragment in front of the host": "https://127.0.0.1:{port}#@example.com/",
    "a query in front of the host": "https://127.0.0.1:{port}?@example.com/",
    "a backslash": "https://127.0.0.1:{port}\\@example.com/",
    "a backslash in place of slashes": "https:\\\\127.0.0.1:{port}\\",
    "no slashes": "https:127.0.0.1:{port}/",
    "three slashes": "https:///127.0.0.1:{port}/",
    "one slash": "https:/127.0.0.1:{port}/",
    "no scheme": "//127.0.0.1:{port}/",
    "no scheme and no slashes": "127.0.0.1:{port}",
    "http": "http://127.0.0.1:{port}/",
    "http of a global address": f"http://{GLOBAL}/",
    "ftp": "ftp://127.0.0.1:{port}/",
    "file": "file:///etc/passwd",
    "gopher": "gopher://127.0.0.1:{port}/_x",
    "unix socket": "http+unix://%2Fvar%2Frun%2Fx.sock/",
    "line feed in the host": "https://127.0.0.1\n:{port}/",
    "line feed in the path": "https://127.0.0.1:{port}/\nHost: example.com",
    "carriage return in the path": "https://127.0.0.1:{port}/ HTTP/1.1\r\nX-Injected: yes\r\n\r\n",
    "tab in the scheme": "ht\ttps://127.0.0.1:{port}/",
    "space in the host": "https://example.com 127.0.0.1:{port}/",
    "NUL in the host": "https://127.0.0.1:{port}\0.example.com/",
    "space before the scheme": " https://127.0.0.1:{port}/",
    "a port of 0": "https://127.0.0.1:0/",
    "a port beyond 65535": "https://127.0.0.1:99999/",
    "a negative port": "https://127.0.0.1:-1/",
    "a port in full-width digits": "https://127.0.0.1:\uff14\uff14\uff13/",
    "two ports": "https://127.0.0.1:{port}:443/",
    "an open bracket": "https://[::1:{port}/",
    "IPv6 of the future": "https://[v1.::1]:{port}/",
    "empty host": "https://:{port}/",
    "only a dot": "https://.:{port}/",
    "a host of 300 characters": "https://" + "a" * 300 + ".example.com:{port}/",
    "a lone surrogate": "https://\ud800.example.com:{port}/",
}


class Resolution(NamedTuple):
    """What a name resolves to, for one look-up after the other. The last result stays."""

    results: list[list[str]]
    connects_to: frozenset[str] = frozenset()


# What names resolve to. Only a checked global address may be connected to.
RESOLUTIONS = {
    "loopback": Resolution([["127.0.0.1"]]),
    "IPv6 loopback": Resolution([["::1"]]),
    "private": Resolution([["10.1.2.3"]]),
    "metadata of a cloud": Resolution([["169.254.169.254"]]),
    "one private among global ones": Resolution([[GLOBAL, "10.1.2.3"]]),
    "one private in front of global ones": Resolution([["127.0.0.1", GLOBAL]]),
    "IPv4-mapped loopback beside a global one": Resolution([[GLOBAL, "::ffff:127.0.0.1"]]),
    "6to4 of loopback beside a global one": Resolution([[GLOBAL_6, "2002:7f00:1::"]]),
    "NAT64 of a private network": Resolution([["64:ff9b::a01:203"]]),
    "Teredo of loopback": Resolution([["2001:0:5db8:d70e:0:0:80ff:fffe"]]),
    "link-local with a zone": Resolution([["fe80::1%lo"]]),
    "nothing": Resolution([[]]),
    "global": Resolution([[GLOBAL]], frozenset({GLOBAL})),
    "global and IPv6": Resolution([[GLOBAL_6, GLOBAL]], frozenset({GLOBAL_6, GLOBAL})),
    "global, and loopback at the next look-up": Resolution([[GLOBAL], ["127.0.0.1"]], frozenset({GLOBAL})),
    "global twice, and then loopback": Resolution([[GLOBAL], [GLOBAL], ["127.0.0.1"]], frozenset({GLOBAL})),
    "loopback after it was created": Resolution([[GLOBAL], ["127.0.0.1"], [GLOBAL]], frozenset({GLOBAL})),
    "NAT64 of a global address": Resolution([["64:ff9b::5db8:d70e"]], frozenset({"64:ff9b::5db8:d70e"})),
}
