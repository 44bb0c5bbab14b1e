"""Random actions on drafts: no byte of what is not public is in a stream without a credential."""

import random
import re
import subprocess
import sys
from urllib.parse import urlencode

import pytest

from benchmarks.followers import Follower
from tests.e2e.checkout import ROOT
from tests.e2e.live_server import Site

pytestmark = pytest.mark.servers

SECRET = re.compile(rb"secret\d+q")
EVENTS = """subscription Events { events { type subject parent version was now changes actorId
  ... on PostEvent { post { title body bodyHtml slug excerpt description canonicalUrl tags oldSlugs
    comments { body } workingCopy { title } author { name posts { title } } } }
  ... on CommentEvent { comment { body author { posts { title slug } } } }
  ... on AuthorEvent { author { name posts { title body } } } } }"""
POST = "subscription Post($id: ID!) { post(id: $id) { title body slug tags comments { body } workingCopy { title } } }"
SEEDS = [pytest.param(300, id="300"), pytest.param(10_000, id="10000", marks=pytest.mark.thorough)]
