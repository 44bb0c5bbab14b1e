"""Thousands of requests that schemathesis generates from the served document, against gunicorn, with all checks."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployment.checkout import Checkout, Run
from tests.deployment.processes import ROOT, UNREACHED_RATES
from tests.deployment.template import Template
from tests.e2e.conftest import stop_at_the_end
from tests.thoroughness import PERCENT, scale_examples

pytestmark = [pytest.mark.thorough, pytest.mark.servers]

SEED = 20261121
EXAMPLES = scale_examples(200)  # of each operation, beside the document's examples and the edges of its schemas
# Creates a user with an order that is on its way. Prints the id of the user, and an API key of theirs.
CREATE = """
from decimal import Decimal
from contentapi.core.identity import OPERATOR, Role
from orders import services as orders
from users import services as users
user = users.create_user(actor=OPERATOR, email="fuzz-{0}@example.invalid", name="F", role=Role("{0}"), password=None)
order = str(orders.create_order(actor=OPERATOR, total=Decimal("18.50"), user_id=user.pk).pk)
orders.pay_order(actor=OPERATOR, order_id=order)
orders.ship_order(actor=OPERATOR, order_id=order, carrier="Coastal Parcels", tracking_number="CP-1")
print(user.pk, users.create_api_key(actor=OPERATOR, email=user.email, name="fuzzing"))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Run]:
    for checkout in stop_at_the_end(Checkout(tmp_path_factory.mktemp("openapi") / "a checkout", template)):
        yield checkout.run("SERVER=gunicorn", **UNREACHED_RATES).wait_until_ready()


@pytest.mark.parametrize("caller", ["anonymous", "admin", *(["author"] if PERCENT >= 100 else [])])
def test_every_response_is_described_in_the_document(caller: str, run: Run, tmp_path: Path) -> None:
    # The edges of all schemas and the links between operations are most of the requests: CI sends them as an admin.
    phases = [] if caller == "admin" or PERCENT >= 100 else ["--phases", "examples,fuzzing"]
    user_id, key = ("", "") if caller == "anonymous" else create_user(run.checkout, caller)

    fuzzing = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli"]
        + ["--config-file", str(ROOT / "tests/e2e/schemathesis.toml")]
        + ["run", f"http://localhost:{run.port}/openapi.json", "--continue-on-failure", "--no-color"]
        + ["--seed", str(SEED), "--max-examples", str(EXAMPLES), *phases]
        + (["--header", f"X-API-Key: {key}"] if key else []),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "FUZZ_CALLER": user_id},
        capture_output=True,
        text=True,
        check=False,
    )

    assert fuzzing.returncode == 0, fuzzing.stdout + fuzzing.stderr
    assert "Traceback" not in run.printed


def create_user(checkout: Checkout, role: str) -> tuple[str, str]:
    created = checkout.manage("shell", "--verbosity", "0", "-c", CREATE.format(role))
    assert created.returncode == 0, created.stderr
    user_id, key = created.stdout.split()
    return user_id, key
