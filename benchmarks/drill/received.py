"""What streams, webhooks and readers of the feed have received, compared with the log."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any

from benchmarks.followers import Received as Streamed
from tests.webhook_receivers import Received as Delivered

Texts = Mapping[str, int]
"""The last version of a post with each title."""


def get_position(streamed: Streamed) -> int:
    return int(streamed.event["position"])


def compare_stream(events: list[Streamed], positions: Collection[int], texts: Texts) -> Iterator[str]:
    """Yield how the events of a stream differ from the positions of the log. `data` is as new as its delivery."""
    known: dict[int, Any] = {}
    for streamed in events:
        position = get_position(streamed)
        fixed = omit_data(streamed.event)
        if known.setdefault(position, fixed) != fixed:
            yield f"{position} came as {known[position]} and as {fixed}"
        if int(streamed.cursor.rpartition("-")[2]) != position:
            yield f"{position} came with the cursor {streamed.cursor}"
        if is_outdated(streamed.event, texts):
            yield f"{position} came with an old state: {streamed.event}"
    yield from compare_positions(known.keys(), positions)
    firsts = list(dict.fromkeys(map(get_position, events)))
    if any(earlier > later for earlier, later in pairwise(firsts)):
        yield "the events did not come in their order"


def compare_positions(found: Collection[int], expected: Collection[int]) -> Iterator[str]:
    if missing := sorted(set(expected) - set(found)):
        yield f"{len(missing)} of {len(expected)} events did not come, such as {missing[:5]}"
    if foreign := sorted(set(found) - set(expected)):
        yield f"{len(foreign)} events came that are not for it, such as {foreign[:5]}"


def compare_webhook(requests: list[Delivered], positions: Collection[int], texts: Texts) -> Iterator[str]:
    """Yield how the requests to a webhook differ from the positions of the log.

    An event that comes again has the same id. Its `data` is read again.
    """
    attempts: dict[int, list[Delivered]] = defaultdict(list)
    last: dict[str, int] = {}
    for request in requests:
        event = request.event
        position = int(event["position"])
        if position < last.get(event["subject"], 0):
            yield f"the event {position} came after {last[event['subject']]} of its object"
        last[event["subject"]] = position
        if is_outdated(event, texts):
            yield f"{position} came with an old state: {event}"
        attempts[position].append(request)
    yield from compare_positions(attempts.keys(), positions)
    different = [position for position, all_of in attempts.items() if len({request.id for request in all_of}) > 1]
    if different:
        yield f"{len(different)} events came with two ids, such as {different[:5]}"
    if changed := [position for position, all_of in attempts.items() if has_changed(all_of)]:
        yield f"{len(changed)} events came with two bodies, such as {changed[:5]}"


def has_changed(attempts: list[Delivered]) -> bool:
    """Return whether an event came again with anything else than other `data`."""
    return any(omit_data(before.event) != omit_data(after.event) for before, after in pairwise(attempts))


def omit_data(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name != "data"}


def is_outdated(event: Mapping[str, Any], texts: Texts) -> bool:
    """Return whether the state of a post is older than its event."""
    data = event.get("data")
    if not event["type"].startswith("post.") or not data or data.get("title") not in texts:
        return False
    return texts[data["title"]] < int(event["version"])


def count_repetitions(requests: list[Delivered]) -> int:
    return len(requests) - len({request.id for request in requests})


def read_feed_page(text: bytes) -> tuple[list[int], str]:
    """Return the positions of a page of the feed, and its cursor."""
    page = json.loads(text)
    return [int(event["position"]) for event in page["data"]], page["next_cursor"]
