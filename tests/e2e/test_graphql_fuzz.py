"""Generated documents, valid and invalid, sent to gunicorn by an anonymous caller and by an admin."""

import re
from collections import Counter
from datetime import UTC
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis_graphql import nodes
from schemathesis import GenerationMode
from schemathesis.core.result import Ok

from tests.deployment.checkout import Checkout, Run
from tests.thoroughness import scale_examples

pytestmark = [pytest.mark.servers, pytest.mark.thorough]

EXAMPLES = scale_examples(3000)
LEAKS = re.compile(
    r"Traceback|\bFile \"|\.py\b|site-packages|psycopg|django|\bSELECT\b|\bINSERT INTO\b|\bUPDATE \"|\bblog_|\busers_|"
    r"pg_|DETAIL:|/(?:etc|home|opt|root|srv|tmp|usr|var)/|<module|Error\(|object at 0x"
)
STATUSES = {200, 294, 400, 401, 403, 404, 409, 410, 415, 422}


def build_documents(run: Run) -> st.SearchStrategy[str]:
    """Return documents for every root field: those that fit the schema, those that do not, and broken ones."""
    schemathesis.graphql.scalar(
        "DateTime", st.datetimes(timezones=st.just(UTC)).map(lambda it: nodes.String(it.isoformat()))
    )
    schema = schemathesis.graphql.from_url(f"http://127.0.0.1:{run.port}/graphql")
    operations = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    cases: list[st.SearchStrategy[Any]] = [it.as_strategy(generation_mode=mode) for it in operations for mode in modes]
    made: st.SearchStrategy[str] = st.one_of(cases).map(lambda case: str(case.body))
    return made | st.builds(corrupt, made, st.floats(0, 1), st.text(max_size=3), st.integers(0, 5))


def corrupt(document: str, place: float, inserted: str, removed: int) -> str:
    at = int(len(document) * place)
    return document[:at] + inserted + document[at + removed :]


@pytest.fixture
def run(checkout: Checkout) -> Run:
    rates = dict.fromkeys(("ANONYMOUS", "AUTHENTICATED", "WRITES"), "1000000/second")
    variables = {f"CONTENTAPI_RATE_{name}": rate for name, rate in rates.items()}
    return checkout.run(**variables).wait_until_ready()


def test_no_document_causes_a_500_or_reveals_internals(checkout: Checkout, run: Run) -> None:
    checkout.manage("create_user", "fuzz@example.invalid", "--name", "Fuzz", "--role", "admin")
    key = checkout.manage("create_api_key", "fuzz@example.invalid", "--name", "fuzz").stdout.strip()
    met: Counter[tuple[int, bool]] = Counter()
    session = requests.Session()

    @seed(1)
    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(build_documents(run), st.booleans())
    def check_document(document: str, is_admin: bool) -> None:  # noqa: FBT001
        headers = {"X-API-Key": key} if is_admin else {}
        response = session.post(f"http://127.0.0.1:{run.port}/graphql", json={"query": document}, headers=headers)

        met[response.status_code, is_admin] += 1
        assert response.status_code in STATUSES, response.text
        assert not [leak for leak in LEAKS.findall(response.text) if leak not in document], response.text
        for error in response.json().get("errors", []):
            assert {"code", "status", "requestId"} <= error["extensions"].keys()

    check_document()

    assert sum(met.values()) >= EXAMPLES
    assert met[200, True] > EXAMPLES // 100
    assert "Traceback" not in run.printed
