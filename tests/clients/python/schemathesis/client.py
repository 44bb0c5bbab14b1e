"""schemathesis: the requests of the examples of /openapi.json, each response compared with it.

A short run without a credential, with the default checks except one: schemathesis generates the headers of two ways to
authenticate at once, which this server refuses. `tests/e2e/test_openapi.py` also runs the other phases and all checks,
without a credential and with those of several roles, with hooks for such rules.
"""

import os
import subprocess
import sys

sys.path.insert(0, "..")
from prove import prove

API = os.environ["API_URL"]

with prove("finds no difference between the responses to generated requests and /openapi.json"):
    fuzz = ["schemathesis", "run", f"{API}/openapi.json", "--seed", "1", "--no-color", "--phases", "examples"]
    checks = ["--exclude-checks", "positive_data_acceptance"]
    done = subprocess.run([*fuzz, *checks], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
