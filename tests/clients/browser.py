"""Open an address as a user who logs in and consents: `python -m tests.clients.browser EMAIL PASSWORD ADDRESS`.

Prints the address to which the server sends the user afterwards.
"""

import sys

from tests.e2e.http_client import HttpClient


def consent(email: str, password: str, address: str) -> str:
    browser = HttpClient(address)
    to_login = browser.get(address)
    assert to_login.status == 302, to_login.body
    back = browser.submit(to_login.headers["Location"], username=email, password=password)
    assert back.status == 302, back.body
    to_application = browser.submit(back.headers["Location"], allow="yes")
    assert to_application.status == 302, to_application.body
    location: str = to_application.headers["Location"]
    return location


if __name__ == "__main__":
    print(consent(*sys.argv[1:]))
