"""`python -m benchmarks.identity`: compare the cost of a request with each kind of credential and without one.

Each request goes through the complete WSGI application, with its rate limits, in one process. Prints the CPU time of a
request in this process, the ratio to an anonymous request of the same round, and the number of SQL statements.
"""

import json
import os
import time
from collections.abc import Mapping
from statistics import median

from benchmarks.inside import send
from benchmarks.places import WORK

os.environ["CONTENTAPI_VAR"] = str(WORK / "identity")
for limit in ("ANONYMOUS", "AUTHENTICATED"):
    os.environ[f"CONTENTAPI_RATE_{limit}"] = "999999999/minute"

from contentapi.wsgi import application  # noqa: E402 - reads the environment that was just set

from django.core.management import call_command  # noqa: E402  # isort: skip
from django.db import connection  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from blog.models import Post  # noqa: E402
from contentapi.auth.people import get_user_by_email  # noqa: E402
from contentapi.core.identity import OPERATOR  # noqa: E402
from contentapi.demo import AUTHOR  # noqa: E402
from users.services import create_api_key  # noqa: E402
from users.tokens import issue_token  # noqa: E402

ROUNDS = 21
REQUESTS = 1000  # of each credential in a round
QUERIES = {
    "{ __typename }": "nothing read",
    "{ post(id: POST_ID) { id title author { name } } }": "a post with its author",
}


def main() -> None:
    call_command("migrate", verbosity=0)
    call_command("load_demo")
    credentials: dict[str, Mapping[str, str]] = {
        "anonymous": {},
        "API key": {"HTTP_X_API_KEY": create_api_key(actor=OPERATOR, email=AUTHOR, name="benchmark")},
        "JWT": {"HTTP_AUTHORIZATION": f"Bearer {issue_token(user=get_user_by_email(AUTHOR), ttl=3600)}"},
    }
    print("| Request | Credential | CPU ms | to anonymous | statements |\n|---|---|---|---|---|")
    post_id = str(Post.objects.earliest("pk").pk)
    for template, words in QUERIES.items():
        query = template.replace("POST_ID", post_id)
        for headers in credentials.values():
            measure_seconds(query, headers, REQUESTS)  # warm up
        rounds = [
            {name: measure_seconds(query, each, REQUESTS) for name, each in credentials.items()} for _ in range(ROUNDS)
        ]
        for name, headers in credentials.items():
            cost = median(each[name] for each in rounds) * 1000 / REQUESTS
            ratio = median(each[name] / each["anonymous"] for each in rounds)
            print(f"| {words} | {name} | {cost:.3f} | {ratio:.2f} | {count_statements(query, headers)} |")


def measure_seconds(query: str, headers: Mapping[str, str], times: int) -> float:
    """Return the CPU time of several requests in seconds."""
    body = json.dumps({"query": query}).encode()
    began = time.process_time()
    for _ in range(times):
        send_request(body, headers)
    return time.process_time() - began


def count_statements(query: str, headers: Mapping[str, str]) -> int:
    """Return how many statements one request sends; those sent to libpq itself are counted by PostgreSQL."""
    with CaptureQueriesContext(connection) as captured:
        send_request(json.dumps({"query": query}).encode(), headers)
    return len(captured)


def send_request(body: bytes, headers: Mapping[str, str]) -> None:
    send(application, body, headers)


if __name__ == "__main__":
    main()
