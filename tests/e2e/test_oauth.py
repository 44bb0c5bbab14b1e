"""An application, a user's browser and an operator, over HTTP: from registering the application to revoking its token.

Afterwards neither the database nor any log contains a usable credential.
"""

import base64
import hashlib
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from contentapi.db.embedded.programs import PROGRAMS
from tests.deployment.live_server import LiveServer, Site
from tests.deployment.processes import run_program, wait_until
from tests.e2e.http_client import HttpClient, HttpResponse

pytestmark = pytest.mark.servers

CALLBACK = "https://app.example.invalid/callback"
EMAIL = "mara@example.invalid"
LOUDEST = {"CONTENTAPI_LOG_LEVEL": "DEBUG", "CONTENTAPI_RATE_TOKENS": "1000/minute"}


class Flow:
    """An application during the authorization code flow."""

    def __init__(self, base: str, client_id: str, secret: str) -> None:
        self.base, self.client_id, self.secret = base, client_id, secret
        self.verifier = secrets.token_urlsafe(48)
        self.backend = HttpClient(base)

    @property
    def address(self) -> str:
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        parameters = {"response_type": "code", "client_id": self.client_id, "redirect_uri": CALLBACK, "state": "s"}
        parameters |= {"code_challenge": challenge, "code_challenge_method": "S256"}
        return f"/oauth/authorize?{urlencode(parameters)}"

    def authorize(self, browser: HttpClient, password: str) -> str:
        """Log in, say yes, and return the code."""
        to_login = browser.get(self.address)
        assert to_login.status == 302
        back = browser.submit(to_login.headers["Location"], username=EMAIL, password=password)
        assert (back.status, back.headers["Location"]) == (302, self.address), back.body
        to_application = browser.submit(self.address, allow="yes").headers["Location"]
        assert to_application.startswith(CALLBACK)
        return parse_qs(urlsplit(to_application).query)["code"][0]

    def post(self, path: str, **form: str) -> HttpResponse:
        pair = base64.b64encode(f"{self.client_id}:{self.secret}".encode()).decode()
        return self.backend.post(path, form, Authorization=f"Basic {pair}")

    def exchange(self, code: str) -> Any:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        return self.post("/oauth/token", **form, code_verifier=self.verifier)

    def refresh(self, refresh_token: str) -> HttpResponse:
        return self.post("/oauth/token", grant_type="refresh_token", refresh_token=refresh_token)


def get_status_with_token(server: LiveServer, token: str) -> int:
    return server.query("{ viewer { role } }", Authorization=f"Bearer {token}").status


def wait_until_refused(server: LiveServer, token: str) -> None:
    """Wait until every worker has heard that a token is revoked: several requests in a row are refused."""
    wait_until(lambda: {get_status_with_token(server, token) for _ in range(10)} == {401}, "the revocation")


def test_application_acts_for_a_user_until_it_is_revoked(site: Site) -> None:
    with site.serve("granian", WEB_CONCURRENCY="2", **LOUDEST) as server:
        password = secrets.token_urlsafe(18)
        *_, client_id, secret, key, operators = site.manage_all(
            ["create_user", EMAIL, "--name", "Mara Member", "--role", "author", "--password-stdin"],
            ["create_oauth_client", "Harbour News", "--redirect-uri", CALLBACK],
            ["create_api_key", EMAIL, "--name", "test"],
            ["issue_token", EMAIL],
            given=f"{password}\n",
        )
        flow, browser = Flow(server.address, client_id, secret), HttpClient(server.address)

        # The flow, whole.
        code = flow.authorize(browser, password)
        first = flow.exchange(code).json
        write = 'mutation { createPost(input: {title: "Hello", body: ""}) { author { name } } }'
        written = flow.backend.query(write, Authorization=f"Bearer {first['access_token']}")
        assert written.json == {"data": {"createPost": {"author": {"name": "Mara Member"}}}}
        second = flow.refresh(first["refresh_token"]).json
        assert get_status_with_token(server, second["access_token"]) == 200
        assert flow.post("/oauth/revoke", token=second["refresh_token"]).status == 200
        assert flow.refresh(second["refresh_token"]).status == 400

        # Every worker has heard of it before long.
        for token in (first["access_token"], second["access_token"]):
            wait_until_refused(server, token)

        # Both kinds of operators' credentials, and things going wrong with each.
        assert flow.backend.query("{ viewer { role } }", X_API_Key=key).status == 200
        assert get_status_with_token(server, operators) == 200
        assert get_status_with_token(server, operators[:-4]) == 401
        assert flow.backend.query("{ viewer { role } }", X_API_Key=key[:-1]).status == 401
        assert flow.exchange(code).status == 400
        unspent = Flow(server.address, client_id, secret).authorize(HttpClient(server.address), password)
        session = next(cookie.value for cookie in browser.cookies if cookie.name == "sessionid")

        dump = run_program(PROGRAMS / "pg_dump", "--host", site.socket_folder, "--username", "postgres").stdout
        assert server.end() == 0
    site.close()

    used = {
        "password": password, "client secret": secret, "API key": key, "operator's token": operators, "code": code,
        "unspent code": unspent, "verifier": flow.verifier, "session": session,
        **{f"{name} {number}": each[name] for number, each in enumerate((first, second))
           for name in ("access_token", "refresh_token")},
    }  # fmt: skip
    private = " ".join(path.read_text() for path in (site.var / "jwt").iterdir())
    used |= {"signing key": find_longest_line(private), "secret key": (site.var / "secret_key").read_text()}
    assert client_id in dump
    places = {"dump": dump.encode(), "log": server.printed.encode(), **read_files(site.var / "postgres")}
    found = [(name, place) for name, text in used.items() for place, held in places.items() if text.encode() in held]
    assert found == []


def find_longest_line(text: str) -> str:
    return max(text.split(), key=len)


def read_files(data: Path) -> dict[str, bytes]:
    return {str(path.relative_to(data)): path.read_bytes() for path in data.rglob("*") if path.is_file()}
