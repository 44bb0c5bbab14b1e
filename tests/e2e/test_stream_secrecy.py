"""Random actions on drafts: no byte of what is not public is in a stream without a credential."""

import json
import re
import subprocess
import sys
from urllib.parse import urlencode

import pytest

from benchmarks.followers import Follower
from tests.content import SELECTION
from tests.deployment.live_server import Site
from tests.deployment.processes import ROOT, wait_until
from tests.e2e.streams import serve_streams
from tests.thoroughness import scale_examples

pytestmark = pytest.mark.servers

SECRET, OPEN = re.compile(rb".{0,80}secret\d+q"), re.compile(rb"open\d+q")
EVENTS = """subscription ($after: String) { events(after: $after) {
  cursor type subject parent version was now changes actorId
  ... on PostEvent { post { SELECTION bodyHtml oldSlugs
    comments { body } workingCopy { SELECTION } author { name posts { title } } } }
  ... on CommentEvent { comment { body author { posts { title slug } } } }
  ... on AuthorEvent { author { name posts { title body } } } } }""".replace("SELECTION", SELECTION)
POST = f"""subscription ($id: ID!) {{ post(id: $id) {{
  {SELECTION} comments {{ body }} workingCopy {{ {SELECTION} }} }} }}"""
ACTIONS = scale_examples(2_000)
LIMIT = 1800.0  # seconds for the actions
PATIENCE = 120.0


@pytest.mark.property
def test_anonymous_streams_contain_nothing_of_a_draft(site: Site) -> None:
    """Some streams are open during the actions. Others follow later, and read all events again."""
    with serve_streams(site) as port:
        drafts = json.loads(act(site, 30, seed=1))["posts"]
        live = [Follower(port), follow(port, EVENTS), *(follow(port, POST, id=each) for each in drafts[:4])]
        for follower in live:
            follower.start()
            assert follower.opened.wait(PATIENCE), follower.refusals
        done = json.loads(act(site, ACTIONS, seed=2))
        epoch, positions = read_public_positions(site)
        begin = f"{epoch}-0"
        later = [Follower(port, f"/events/stream?after={begin}"), follow(port, EVENTS, after=begin)]
        for follower in later:
            follower.start()
        last = f"{epoch}-{positions[-1]}"  # the worker may announce more meanwhile, such as an image that is ready
        for follower in [*live[:2], *later]:
            assert follower.wait_for(lambda it: any(each.cursor == last for each in it.events), PATIENCE)
        for follower in [*live, *later]:
            follower.stop()

    assert done["actions"] > ACTIONS / 3
    for follower in [*live, *later]:
        content = b"".join(follower.bytes)
        assert set(SECRET.findall(content)) == set(), follower.path
    for follower in [*live[:2], *later]:
        assert OPEN.search(b"".join(follower.bytes)), follower.path
    for follower in later:
        cursors = [received.cursor for received in follower.events]
        assert cursors[: len(positions)] == [f"{epoch}-{each}" for each in positions]


def act(site: Site, count: int, seed: int) -> str:
    """Carry out random actions in a process of their own. Return what it prints."""
    command = [sys.executable, "-m", "tests.e2e.draft_actions", str(count), str(seed)]
    done = subprocess.run(
        command, cwd=ROOT, env=site.environment(), capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def follow(port: int, document: str, **variables: str) -> Follower:
    query = urlencode({"query": document, "variables": json.dumps(variables)})
    return Follower(port, f"/graphql?{query}")


def read_public_positions(site: Site) -> tuple[str, list[int]]:
    """Return the epoch of the log and the positions of the public events, when no event waits for the relay."""
    with site.connect() as connection:
        connection.autocommit = True
        wait_until(
            lambda: not connection.execute("SELECT FROM events_outbox LIMIT 1").fetchall(), "the relay", PATIENCE
        )
        [(epoch, positions)] = connection.execute(
            "SELECT (SELECT epoch FROM events_log), array_agg(position ORDER BY position) "
            "FROM events_event WHERE is_public"
        )
    return epoch, positions
