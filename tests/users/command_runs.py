"""Runs of commands, for the tests of the commands for users, keys and clients."""

import io
import json
from typing import Any

from django.core.management import call_command

from tests.graphql_requests import post_to_graphql

EMAIL = "ines@example.invalid"


def run_command(*arguments: str) -> tuple[str, str]:
    """Run a command and return its output on stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def run_json(*arguments: str) -> Any:
    """Run a command with --json and return the parsed output, which is JSON and ASCII only."""
    out, _ = run_command(*arguments, "--json")
    assert out.isascii()
    return json.loads(out)


def query_status(key: str) -> int:
    return post_to_graphql({"query": "{ __typename }"}, X_API_Key=key).status
