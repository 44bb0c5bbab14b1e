"""What writers have seen acknowledged, and whether the log of events has it: each write once, and nothing else.

A write has a text that no other one has: the title of a post or the body of a comment. The rows of posts, with those
of their history, are all versions that were committed.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple
from uuid import uuid4

PREFIX = "drill "
TEXTS = f"""
    SELECT title, id FROM blog_post WHERE title LIKE '{PREFIX}%'
    UNION SELECT title, id FROM blog_postversion WHERE title LIKE '{PREFIX}%'
    UNION SELECT body, id FROM blog_comment WHERE body LIKE '{PREFIX}%'
    UNION SELECT body, id FROM blog_deletedcomment WHERE body LIKE '{PREFIX}%'
"""
EFFECTS = """
    SELECT type, subject_id, version, count(*) FROM events_event WHERE position > {position} GROUP BY 1, 2, 3
"""
BEGIN = """
    SELECT position, greatest((SELECT max(id) FROM blog_post), (SELECT max(id) FROM blog_comment), 0) FROM events_log
"""
GAPS = (
    "SELECT coalesce(max(position), {position}) - {position} - count(*) FROM events_event WHERE position > {position}"
)
# What was committed after the beginning, and the types of its events. A comment has no version.
COMMITTED = {
    "type LIKE 'post.%' AND type <> 'post.deleted'": """
        SELECT id, version FROM blog_post WHERE id > {last_id}
        UNION ALL SELECT id, version FROM blog_postversion WHERE id > {last_id}
    """,
    "type = 'post.deleted'": "SELECT id, version FROM blog_postversion WHERE id > {last_id} AND pgh_label = 'delete'",
    "type = 'comment.created'": """
        SELECT id, NULL::bigint AS version FROM blog_comment WHERE id > {last_id}
        UNION ALL SELECT id, NULL::bigint FROM blog_deletedcomment WHERE id > {last_id}
    """,
    "type = 'comment.deleted'": """
        SELECT id, NULL::bigint AS version FROM blog_comment WHERE id > {last_id} AND state = 'deleted'
        UNION ALL SELECT id, NULL::bigint FROM blog_deletedcomment WHERE id > {last_id} AND state = 'deleted'
    """,
}
DIFFERENCES = """
    SELECT id, version, coalesce(committed, 0), coalesce(announced, 0)
    FROM (SELECT id, coalesce(version, 0) AS version, count(*) AS committed FROM ({rows}) AS row GROUP BY 1, 2) AS rows
    FULL JOIN (
        SELECT subject_id AS id, coalesce(version, 0) AS version, count(*) AS announced FROM events_event
        WHERE position > {position} AND subject_id > {last_id} AND {types} GROUP BY 1, 2
    ) AS events USING (id, version)
    WHERE committed IS DISTINCT FROM announced ORDER BY 1, 2
"""


Read = Callable[[str], list[tuple[Any, ...]]]
"""Returns the rows of a statement."""


class Effect(NamedTuple):
    """An event that the log must have once. `version` is None if the client does not know it, or there is none."""

    type: str
    subject: int
    version: int | None = None


class Begin(NamedTuple):
    """The last position of the log and the last id before the first write."""

    position: int
    last_id: int


@dataclass
class Ledger:
    """What happened to the writes of each channel.

    `effects` and `texts` were acknowledged. `abandoned` texts must never be committed. `unknown` counts the writes
    without a response, which may have happened or not.
    """

    effects: list[tuple[str, Effect]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    abandoned: set[str] = field(default_factory=set)
    acknowledged: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def acknowledge(self, channel: str, *effects: Effect, text: str = "") -> None:
        """Note an acknowledged write, by its events, its text, or both."""
        with self.lock:
            self.acknowledged[channel] += 1
            self.effects += [(channel, effect) for effect in effects]
            if text:
                self.texts.append((channel, text))

    def abandon(self, text: str) -> None:
        """Note a text whose transaction is rolled back."""
        with self.lock:
            self.abandoned.add(text)

    def lose(self, channel: str) -> None:
        """Note a write without a response."""
        with self.lock:
            self.unknown[channel] += 1

    def complain(self, problem: str) -> None:
        with self.lock:
            self.problems.append(problem)

    def __str__(self) -> str:
        done = ", ".join(f"{channel} {number}" for channel, number in sorted(self.acknowledged.items()))
        unknown = ", ".join(f"{channel} {number}" for channel, number in sorted(self.unknown.items()))
        return (
            f"{self.acknowledged.total()} writes acknowledged ({done}), {self.unknown.total()} without a response "
            f"({unknown}), {len(self.abandoned)} rolled back"
        )


def make_text() -> str:
    return f"{PREFIX}{uuid4()}"


def read_begin(read: Read) -> Begin:
    ((position, last_id),) = read(BEGIN)
    return Begin(position, last_id)


def find_differences(read: Read, ledger: Ledger, begin: Begin) -> Iterator[str]:
    """Yield what is wrong with the log of events."""
    bounds = begin._asdict()
    yield from compare_texts(ledger, read(TEXTS))
    announced: Counter[Effect] = Counter()
    for kind, subject, version, number in read(EFFECTS.format(**bounds)):
        announced[Effect(kind, subject, version)] += number
        if version is not None:
            announced[Effect(kind, subject)] += number
    yield from compare_effects(ledger, announced)
    for types, rows in COMMITTED.items():
        if found := read(DIFFERENCES.format(**bounds, types=types, rows=rows.format(**bounds))):
            yield f"{types}: {len(found)} differences of rows and events, such as {found[:3]}"
    ((gap,),) = read(GAPS.format(**bounds))
    if gap:
        yield f"the log lacks {gap} positions"


def compare_texts(ledger: Ledger, rows: list[tuple[Any, ...]]) -> Iterator[str]:
    """Yield what is wrong with texts. `rows` has each text with the id of its object."""
    places = Counter(text for text, _ in rows)
    if lost := [each for each in ledger.texts if each[1] not in places]:
        yield f"{len(lost)} acknowledged texts are lost, such as {lost[:3]}"
    if doubled := [text for text, number in places.items() if number > 1]:
        yield f"{len(doubled)} texts were written twice, such as {doubled[:3]}"
    if committed := sorted(ledger.abandoned & places.keys()):
        yield f"{len(committed)} texts were not rolled back, such as {committed[:3]}"


def compare_effects(ledger: Ledger, announced: Counter[Effect]) -> Iterator[str]:
    """Yield what is wrong with the events of acknowledged writes. `announced` has the number of events of each kind."""
    wrong = [(*each, announced[each[1]]) for each in ledger.effects if announced[each[1]] != 1]
    if wrong:
        yield f"{len(wrong)} acknowledged writes have not one event, such as {wrong[:3]}"
