"""Whether the clients lost anything during a fault, and the table of all faults."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.drill.database import Postgres
from benchmarks.drill.faults import Fault
from benchmarks.drill.load import Exchange, Journal

REFUSED_WITHIN = 2.0  # seconds
BACK_WITHIN = 5.0  # seconds after the end of the cause
LONGEST_RETRY_AFTER = 10  # seconds
ALLOWED_GROWTH = 1.15  # of the memory of a worker, and some more:
ALLOWED_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class Span:
    """The times of a fault, of `time.monotonic`."""

    begin: float
    end: float


@dataclass(frozen=True, slots=True)
class Use:
    """The connections to PostgreSQL, those idle in a transaction, and the memory of the largest worker in bytes."""

    connections: int
    idle_transactions: int
    memory: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row of the table."""

    fault: str
    seconds: float
    acknowledged: int
    lost: int
    duplicated: int
    refusals: int
    slowest_refusal: float
    wrong: dict[str, int]
    cut: int
    back_after: float
    before: Use
    after: Use
    most_connections: int

    @property
    def failures(self) -> list[str]:
        """Return the broken requirements."""
        grown = self.after.memory > self.before.memory * ALLOWED_GROWTH + ALLOWED_BYTES
        checks = {
            "nothing was acknowledged": self.acknowledged == 0,
            "acknowledged writes are lost": self.lost > 0,
            "effects are duplicated": self.duplicated > 0,
            "a refusal was slow": self.slowest_refusal > REFUSED_WITHIN,
            f"wrong responses: {self.wrong}": bool(self.wrong),
            "it was back too late": self.back_after > BACK_WITHIN,
            "connections are leaked": self.after.connections > self.most_connections
            or bool(self.after.idle_transactions),
            "memory has grown": grown,
        }
        return [name for name, is_broken in checks.items() if is_broken]


def judge(
    fault: Fault, span: Span, journal: Journal, postgres: Postgres, uses: tuple[Use, Use], most_connections: int
) -> Outcome:
    """Compare what the clients saw with the rows in the database."""
    counts = count_effects(postgres)
    refusals = [each for each in journal.exchanges if each.status == 503]
    wrong: dict[str, int] = {}
    cut = 0
    for each in journal.exchanges:
        reason = find_mistake(each, fault, span)
        if reason == "cut":
            cut += 1
        elif reason:
            wrong[reason] = wrong.get(reason, 0) + 1
    return Outcome(
        fault=fault.title,
        seconds=span.end - span.begin,
        acknowledged=len(journal.acknowledged),
        lost=sum(counts.get(marker, 0) == 0 for marker in journal.acknowledged),
        duplicated=sum(counts.get(marker, 0) > 1 for marker in journal.attempted),
        refusals=len(refusals),
        slowest_refusal=max((each.seconds for each in refusals), default=0.0),
        wrong=wrong,
        cut=cut,
        back_after=find_return(journal.exchanges, span),
        before=uses[0],
        after=uses[1],
        most_connections=most_connections,
    )


def count_effects(postgres: Postgres) -> dict[str, int]:
    """Return how often each marker exists."""
    counts: dict[str, int] = {}
    with postgres.connect() as connection:
        for table, column in (("blog_post", "title"), ("blog_comment", "body")):
            rows = connection.execute(
                f"SELECT {column}, count(*) FROM {table} WHERE {column} LIKE 'drill %' GROUP BY 1".encode()
            )
            counts.update(rows.fetchall())
    return counts


def find_mistake(each: Exchange, fault: Fault, span: Span) -> str:
    """Return why an exchange is wrong, "" if it is right, or "cut" if the fault excuses a lost connection.

    409 with Retry-After means that the first request with the key still runs.
    """
    if each.status in (200, 201) or (each.status == 409 and each.retry_after and each.is_write):
        return ""
    if each.status == 0:
        return "cut" if fault.breaks_server else f"no response: {each.note}"
    if each.status != 503:
        return f"status {each.status}: {each.note}"
    if not fault.refuses and not fault.breaks_server:
        return "a refusal without need"
    if not (each.retry_after or "").isdecimal() or not 1 <= int(each.retry_after or 0) <= LONGEST_RETRY_AFTER:
        return f"Retry-After {each.retry_after}"
    if each.refused_before is not None and each.refused_before > span.end:
        return "refused again after Retry-After"
    return ""


def find_return(exchanges: Sequence[Exchange], span: Span) -> float:
    """Return the seconds from the end of the cause to the first write and read that succeed, and fail no more."""
    later = [each for each in exchanges if each.start + each.seconds > span.end]
    times = [0.0]
    for is_write in (False, True):
        kind = [each for each in later if each.is_write is is_write]
        successes = [each.start + each.seconds - span.end for each in kind if each.status in (200, 201)]
        times.append(min(successes, default=float("inf")))
        failed = [each.start - span.end for each in kind if each.status in (0, 500, 502, 503)]
        times.append(max(failed, default=0.0))
    return max(times)


HEADERS = (
    "fault", "lasted", "acknowledged", "lost", "duplicated", "refusals", "slowest refusal", "wrong", "cut",
    "back after", "connections", "memory (MB)", "pass",
)  # fmt: skip


def format_table(outcomes: Sequence[Outcome]) -> str:
    """Return the table in Markdown."""
    rows = [HEADERS, tuple("-" for _ in HEADERS), *(format_row(outcome) for outcome in outcomes)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def format_row(outcome: Outcome) -> tuple[str, ...]:
    before, after = outcome.before, outcome.after
    return (
        outcome.fault,
        f"{outcome.seconds:.1f} s",
        str(outcome.acknowledged),
        str(outcome.lost),
        str(outcome.duplicated),
        str(outcome.refusals),
        f"{outcome.slowest_refusal:.2f} s",
        str(sum(outcome.wrong.values())),
        str(outcome.cut),
        f"{outcome.back_after:.1f} s",
        f"{before.connections} → {after.connections}",
        f"{before.memory / 1e6:.0f} → {after.memory / 1e6:.0f}",
        "no" if outcome.failures else "yes",
    )
