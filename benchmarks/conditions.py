"""The request headers of each condition. In every condition, load.lua adds a `traceparent` that is new in each request.

`varied` is an API client with tracing. `browser` is a page of another origin that calls the API with `fetch`.
"""

VARIED, BROWSER = "varied", "browser"
ORIGIN = "https://app.example.test"  # ours allows it; the peers have no CORS configuration
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"  # load.lua replaces it in each request

HEADERS = {
    VARIED: {"Accept": "application/json"},
    BROWSER: {
        "Accept": "*/*",
        "Accept-Encoding": "gzip, deflate, br, zstd",
        "Accept-Language": "en-GB,en;q=0.9,de;q=0.8",
        "Origin": ORIGIN,
        "Priority": "u=1, i",
        "Referer": f"{ORIGIN}/",
        "Sec-Fetch-Dest": "empty",
        "Sec-Fetch-Mode": "cors",
        "Sec-Fetch-Site": "cross-site",
        "User-Agent": (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
        ),
        "sec-ch-ua": '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
        "sec-ch-ua-mobile": "?0",
        "sec-ch-ua-platform": '"Linux"',
    },
}
CONDITIONS = tuple(HEADERS)


def headers_for(condition: str, credential: tuple[str, str] | None = None) -> dict[str, str]:
    """Return the headers of a request in a condition, with the credential's header if there is one."""
    headers = {"Content-Type": "application/json", "traceparent": TRACEPARENT, **HEADERS[condition]}
    return headers | dict([credential]) if credential else headers
