"""Thousands of requests that schemathesis generates from the served document, against gunicorn, with all checks."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.deployment.checkout import Checkout, Run
from tests.deployment.processes import ROOT
from tests.thoroughness import PERCENT, scale_examples

pytestmark = [pytest.mark.thorough, pytest.mark.servers]

SEED = 20261121
EXAMPLES = scale_examples(200)  # of each operation, beside the document's examples and the edges of its schemas
AS_MANY_AS_THEY_LIKE = dict.fromkeys(
    ("CONTENTAPI_RATE_ANONYMOUS", "CONTENTAPI_RATE_AUTHENTICATED", "CONTENTAPI_RATE_WRITES"), "1000000/second"
)


@pytest.mark.parametrize("caller", ["anonymous", "admin", *(["author"] if PERCENT >= 100 else [])])
def test_every_response_is_described_in_the_document(caller: str, checkout: Checkout, tmp_path: Path) -> None:
    run = checkout.run("SERVER=gunicorn", **AS_MANY_AS_THEY_LIKE).wait_until_ready()
    # The edges of all schemas and the links between operations are most of the requests: CI sends them as an admin.
    phases = [] if caller == "admin" or PERCENT >= 100 else ["--phases", "examples,fuzzing"]
    user_id, key = ("", "") if caller == "anonymous" else credential(checkout, run, caller)

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


def credential(checkout: Checkout, run: Run, role: str) -> tuple[str, str]:
    """Return the id of a new user, who has an order that is on its way, and an API key of theirs."""
    email = f"{role}@example.invalid"
    user_id = checkout.manage("create_user", email, "--name", role.title(), "--role", role).stdout.strip()
    key = checkout.manage("create_api_key", email, "--name", "fuzzing").stdout.strip()
    order = checkout.manage("create_order", email, "--total", "18.50").stdout.strip()
    pay(run, order, key)
    checkout.manage("ship_order", order, "--carrier", "Coastal Parcels", "--tracking-number", "CP-1")
    return user_id, key


def pay(run: Run, order: str, key: str) -> None:
    address = f"http://localhost:{run.port}/orders/{order}/payment"
    request = Request(address, method="POST", headers={"X-API-Key": key})
    with urlopen(request) as response:  # noqa: S310
        assert json.load(response)["status"] == "paid"
