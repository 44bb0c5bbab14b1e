"""A client that keeps cookies and fills in forms, as a browser without JavaScript."""

import json
import re
from collections.abc import Mapping
from http.cookiejar import CookieJar
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, OpenerDirector, Request, build_opener

OK = 200


class HttpResponse(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class NoRedirectHandler(HTTPRedirectHandler):
    """Return a redirect instead of following it."""

    def redirect_request(self, *_: Any) -> None:
        return None


class HttpClient:
    """A client that stores cookies."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.cookies = CookieJar()
        self.opener: OpenerDirector = build_opener(NoRedirectHandler(), HTTPCookieProcessor(self.cookies))

    def get(self, address: str, **headers: str) -> HttpResponse:
        sent = {name.replace("_", "-"): text for name, text in headers.items()}
        return self.send(Request(urljoin(self.base, address), headers=sent))  # noqa: S310 - our own server

    def post(self, address: str, form: Mapping[str, str], **headers: str) -> HttpResponse:
        url = urljoin(self.base, address)
        sent = {"Referer": url, "Content-Type": "application/x-www-form-urlencoded", **headers}
        return self.send(Request(url, urlencode(form).encode(), sent))  # noqa: S310

    def query(self, query: str, **headers: str) -> HttpResponse:
        sent = {"Content-Type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
        body = json.dumps({"query": query}).encode()
        return self.send(Request(urljoin(self.base, "/graphql"), body, sent))  # noqa: S310

    def send(self, request: Request) -> HttpResponse:
        try:
            response: Any = self.opener.open(request, timeout=120)
        except HTTPError as error:
            response = error
        with response:
            return HttpResponse(response.status, response.headers, response.read().decode())

    def submit(self, address: str, **form: str) -> HttpResponse:
        """Open a page, fill in its form and submit it. Return the page if it could not be opened."""
        page = self.get(address)
        if page.status != OK:
            return page
        hidden = dict(re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"', page.body))
        return self.post(address, {**{name: text.replace("&amp;", "&") for name, text in hidden.items()}, **form})
