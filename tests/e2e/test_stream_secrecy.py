"""Random actions on drafts: no byte of what is not public is in a stream without a credential."""

import json
import re
import subprocess
import sys
from contextlib import ExitStack
from urllib.parse import urlencode

import pytest

from benchmarks.followers import Follower
from tests.e2e.checkout import ROOT
from tests.e2e.live_server import Site, wait_until

pytestmark = pytest.mark.servers

SECRET, OPEN = re.compile(rb"secret\d+q"), re.compile(rb"open\d+q")
EVENTS = """subscription ($after: String) { events(after: $after) { cursor type subject parent version was now changes actorId
  ... on PostEvent { post { title body bodyHtml slug excerpt description canonicalUrl tags oldSlugs
    comments { body } workingCopy { title } author { name posts { title } } } }
  ... on CommentEvent { comment { body author { posts { title slug } } } }
  ... on AuthorEvent { author { name posts { title body } } } } }"""
POST = "subscription ($id: ID!) { post(id: $id) { title body slug tags comments { body } workingCopy { title } } }"
LIMIT = 1800  # seconds for the actions
