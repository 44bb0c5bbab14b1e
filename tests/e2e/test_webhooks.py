"""Webhooks as a deployment sends them: several workers, a receiver that fails, and a sender that is killed."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import psycopg
import pytest

from tests.deployment.processes import PATIENCE, wait_until
from tests.deployment.template import Template
from tests.e2e.worker_deployment import Deployment, run_deployment
from tests.receiver_behaviours import delay, fail_one_in
from tests.thoroughness import scale_examples
from tests.webhook_receivers import Received, Receiver

POSTS, EDITS = 50, scale_examples(200)  # of each
CREATE = """
import json
import contentapi.schema
from blog.services import create_post
from contentapi.events.triggers import silence
from contentapi.events.webhooks.services import create_webhook
from contentapi.auth.sessions import build_session_actor
from users.models import User
actor = build_session_actor(User.objects.get(email="admin@example.com"))
create_webhook(actor=actor, name="Test", url={url!r}, types=["post.updated"])
with silence():
    print(json.dumps([create_post(actor=actor, title=f"Post {{n}}", body="Text.").pk for n in range({posts})]))
"""
# Retries come soon: what waits for a later attempt is due now.
HASTEN = """
    UPDATE events_delivery SET due_at = now() WHERE state = 'waiting' AND due_at > now() + interval '0.2 seconds';
    UPDATE events_webhook SET due_at = now() WHERE disabled_at IS NULL
"""
EDIT = "UPDATE blog_post SET title = 'Edit ' || %s, version = version + 1 WHERE id = %s"
# Two statements, in this order: on Citus, one would count the outbox later than what the relay has moved from it.
OUTBOX = "SELECT count(*) FROM events_outbox"
WAITING = """
    SELECT (SELECT count(*) FROM events_delivery WHERE state = 'waiting')
        + (SELECT count(*) FROM events_webhook, events_log WHERE events_webhook.position < events_log.position)
"""

pytestmark = pytest.mark.servers


@pytest.fixture
def deployment(tmp_path: Path, template: Template) -> Iterator[Deployment]:
    with run_deployment(tmp_path, template) as deployment:
        deployment.host.variables["CONTENTAPI_WEBHOOK_NETWORKS"] = "127.0.0.0/8"
        yield deployment


class Editing:
    """Edits of some posts, each on its own and in any order, and the webhook that gets them."""

    def __init__(self, deployment: Deployment, receiver: Receiver, posts: int, edits: int) -> None:
        self.deployment, self.receiver = deployment, receiver
        printed = deployment.host.manage(
            "shell", "--verbosity", "0", "-c", CREATE.format(url=receiver.url, posts=posts)
        )
        self.posts: list[int] = json.loads(printed.splitlines()[-1])
        self.edits = self.posts * edits
        random.Random(31).shuffle(self.edits)  # noqa: S311 - the same order in each run
        self.done, self.stopping = Event(), Event()

    def run(self) -> None:
        with psycopg.connect(self.deployment.server.build_url(), autocommit=True) as connection:
            for number, post in enumerate(self.edits):
                connection.execute(EDIT, [number, post])
        self.done.set()

    def hasten(self) -> None:
        while not self.stopping.wait(0.3):
            self.deployment.server.execute(HASTEN)

    def finish(self, patience: float = PATIENCE) -> None:
        """Edit, and wait until everything is delivered."""
        threads = [Thread(target=self.run, daemon=True), Thread(target=self.hasten, daemon=True)]
        for thread in threads:
            thread.start()
        try:
            wait_until(self.done.is_set, "the edits", patience)
            for waiting in (OUTBOX, WAITING):
                wait_until(lambda: self.deployment.read(waiting) == 0, "the deliveries", patience)  # noqa: B023
        finally:
            self.stopping.set()
            threads[1].join()

    def require_order(self) -> None:
        """Assert that each event arrived, and the versions of each post rose; doubles have the same id and event."""
        sent: dict[str, list[Received]] = defaultdict(list)
        for request in list(self.receiver.received):
            sent[request.event["subject"]].append(request)
        assert {subject: len({each.id for each in requests}) for subject, requests in sent.items()} == {
            str(post): len(self.edits) // len(self.posts) for post in self.posts
        }
        for requests in sent.values():
            versions = [int(each.event["version"]) for each in requests]
            assert versions == sorted(versions)
            assert len({(each.id, each.event["position"]) for each in requests}) == len(set(versions))


@pytest.mark.thorough
def test_versions_of_fifty_posts_rise_although_a_sender_is_killed(deployment: Deployment) -> None:
    with Receiver(fail_one_in(5, delay(0.01))) as receiver:
        editing = Editing(deployment, receiver, posts=POSTS, edits=EDITS)
        for _ in range(3):
            deployment.start_worker()
        killer = Thread(target=kill_in_turn, args=[deployment, receiver], daemon=True)
        killer.start()
        editing.finish(patience=6 * PATIENCE)
        killer.join()

    editing.require_order()
    assert len(receiver.received) >= POSTS * EDITS * 5 // 4


def kill_in_turn(deployment: Deployment, receiver: Receiver) -> None:
    """Kill workers while they send, and start others. What a killed one owned waits for the end of its lease."""
    for number in range(3):
        least = POSTS * EDITS // 10 * (number + 1)
        wait_until(lambda: len(receiver.received) > least, f"{least} requests", 3 * PATIENCE)  # noqa: B023
        deployment.workers[number].kill()
        deployment.start_worker()
