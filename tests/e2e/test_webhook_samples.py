"""The samples of docs/events.md that verify webhooks. Each is run by its interpreter, if it is installed."""

import base64
import hmac
import json
import os
import shutil
import sys
import time
from typing import NamedTuple

import pytest

from tests.deployment.processes import ROOT, run_program
from tests.markdown import find_fenced_blocks

PAGE = ROOT / "docs" / "events.md"
KEY, OTHER_KEY = b"k" * 24, b"o" * 24
ID, BODY = "msg_1", '{"title": "Soup für vierzig"}'

pytestmark = pytest.mark.servers


class Language(NamedTuple):
    """How a sample is run. `before` and `after` are lines around it: they print what it returns for each call."""

    command: tuple[str, ...]
    after: str
    before: str = ""


LANGUAGES = {
    "py": Language(
        (sys.executable, "-"),
        """
import json, os
calls = json.loads(os.environ["CALLS"])
print(json.dumps([is_genuine(secret, headers, body.encode()) for secret, headers, body in calls]))
""",
    ),
    "js": Language(
        ("node", "--input-type=module"),
        """
const calls = JSON.parse(process.env.CALLS);
console.log(JSON.stringify(calls.map(([secret, headers, body]) => isGenuine(secret, headers, Buffer.from(body)))));
""",
    ),
    "php": Language(
        ("php",),
        """
echo json_encode(array_map(fn($call) => is_genuine(...$call), json_decode(getenv("CALLS"), true)));
""",
        before="<?php\n",
    ),
    "ruby": Language(
        ("ruby", "-"),
        """
require "json"
puts JSON.generate(JSON.parse(ENV["CALLS"]).map { |secret, headers, body| genuine?(secret, headers, body.b) })
""",
    ),
}


def sign(key: bytes, message_id: str, sent_at: int, body: str) -> str:
    return base64.b64encode(hmac.digest(key, f"{message_id}.{sent_at}.{body}".encode(), "sha256")).decode()


def build_calls() -> dict[str, tuple[bool, tuple[str, dict[str, str], str]]]:
    """Return the calls of a sample, by what is special about them, with the correct result."""
    secret, now = f"whsec_{base64.b64encode(KEY).decode()}", int(time.time())
    signature, other = sign(KEY, ID, now, BODY), sign(OTHER_KEY, ID, now, BODY)

    def call(
        signatures: str, *, sent_at: int = now, message_id: str = ID, body: str = BODY
    ) -> tuple[str, dict[str, str], str]:
        headers = {"webhook-id": message_id, "webhook-timestamp": str(sent_at), "webhook-signature": signatures}
        return secret, headers, body

    return {
        "genuine": (True, call(f"v1,{signature}")),
        "in a rotation": (True, call(f"v1,{other} v1,{signature}")),
        "a minute late": (True, call(f"v1,{sign(KEY, ID, now - 60, BODY)}", sent_at=now - 60)),
        "of another key": (False, call(f"v1,{other}")),
        "of another version": (False, call(f"v2,{signature}")),
        "with another body": (False, call(f"v1,{signature}", body=BODY + " ")),
        "with another id": (False, call(f"v1,{signature}", message_id="msg_2")),
        "with another time": (False, call(f"v1,{signature}", sent_at=now - 1)),
        "repeated after an hour": (False, call(f"v1,{sign(KEY, ID, now - 3600, BODY)}", sent_at=now - 3600)),
        "of the next hour": (False, call(f"v1,{sign(KEY, ID, now + 3600, BODY)}", sent_at=now + 3600)),
        "without a signature": (False, call("")),
        "with half of a signature": (False, call(f"v1,{signature[:20]}")),
    }


def test_page_has_a_sample_in_each_language() -> None:
    infos = [block.info for block in find_fenced_blocks(PAGE.read_text())]

    assert [info for info in infos if info.endswith(" webhook")] == [f"{name} webhook" for name in LANGUAGES]


@pytest.mark.parametrize("name", LANGUAGES)
def test_sample_accepts_genuine_requests_only(name: str) -> None:
    language = LANGUAGES[name]
    if shutil.which(language.command[0]) is None:
        pytest.skip(f"{language.command[0]} is not installed")
    [sample] = [block.text for block in find_fenced_blocks(PAGE.read_text()) if block.info == f"{name} webhook"]
    calls = build_calls()

    environment = {**os.environ, "CALLS": json.dumps([call for _, call in calls.values()])}
    finished = run_program(*language.command, given=language.before + sample + language.after, env=environment)

    assert finished.returncode == 0, finished.stderr
    results = dict(zip(calls, json.loads(finished.stdout), strict=True))
    assert results == {situation: expected for situation, (expected, _) in calls.items()}
