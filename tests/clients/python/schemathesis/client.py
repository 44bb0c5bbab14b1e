"""schemathesis: the requests of the examples of /openapi.json, each response compared with it.

A short run without a credential, with the default checks except one: schemathesis generates the headers of two ways to
authenticate at once, which this server refuses. `tests/e2e/test_openapi.py` also runs the other phases and all checks,
without a credential and with those of several roles, with hooks for such rules.
"""

import os
import subprocess
import sys

import requests

sys.path.insert(0, "..")
from prove import prove

API = os.environ["API_URL"]

RUN = ["schemathesis", "run", f"{API}/openapi.json", "--seed", "1", "--no-color"]


def compare(*options: str) -> None:
    command = [*RUN, "--exclude-checks", "positive_data_acceptance", *options]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


with prove("finds no difference between the responses to generated requests and /openapi.json"):
    compare("--phases", "examples")

if "/recipes" in requests.get(f"{API}/openapi.json", timeout=10).json()["paths"]:  # of examples/recipes
    with prove("finds none for the paths of an own type either, also with requests that it makes up"):
        key = f"X-API-Key: {os.environ['API_KEY']}"
        paths = ["--include-path-regex", "^/recipes", "--max-examples", "10"]
        compare("--phases", "examples,fuzzing,stateful", "--header", key, *paths)
