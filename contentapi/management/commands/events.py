"""Print events as they happen: `events tail`. Let all cursors expire: `events new-epoch`."""

from collections.abc import Iterable
from time import sleep
from typing import Any

from django.core.management.base import CommandParser

from contentapi.conf.timeouts import EVENTS_IDLE_INTERVAL
from contentapi.core.commands import OperatorCommand, format_cell
from contentapi.core.identity import OPERATOR
from contentapi.events.feed import read_log, select_events
from contentapi.events.models import Event
from contentapi.events.relay import begin_epoch
from contentapi.events.sources import get_event_types
from contentapi.management.commands.webhooks import add_types

PAGE = 1000


class Command(OperatorCommand):
    help = (
        "tail: print the last events and then those that happen, until it is stopped: position, time, type, subject, "
        "and the status before and after. new-epoch: let all cursors expire, after the files of the database were "
        "replaced by an earlier copy; prints the new epoch."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["tail", "new-epoch"])
        add_types(parser)
        parser.add_argument("--lines", type=int, default=10, metavar="N", help="earlier events (default: %(default)s)")

    def handle(self, *, action: str, types: list[str] | None, lines: int, **_: Any) -> None:
        if action == "new-epoch":
            self.stdout.write(begin_epoch())
            return
        names = None if types is None else get_event_types().parse(types)
        while True:
            self.follow(names, max(0, lines))
            self.stderr.write("A new epoch begins: the database was restored, or another one took over.")

    def follow(self, names: list[str] | None, lines: int) -> None:
        """Print the last events and then those that happen, until a new epoch begins."""
        log = read_log()
        earlier = select_events(OPERATOR, after=0, end=log.position, types=names, subject=None).queryset()
        self.print_events(reversed(earlier.order_by("-position")[:lines]))
        while (present := read_log()).epoch == log.epoch:
            found = select_events(OPERATOR, after=log.position, end=present.position, types=names, subject=None)
            self.print_events(found.queryset().iterator(PAGE))
            log = present
            sleep(EVENTS_IDLE_INTERVAL)

    def print_events(self, events: Iterable[Event]) -> None:
        for event in events:
            status = f" {event.was or '-'} -> {event.now or '-'}" if event.was or event.now else ""
            time = f"{event.timestamp:%Y-%m-%d %H:%M:%S}"
            self.stdout.write(format_cell(f"{event.position} {time} {event.type} {event.subject_id}{status}"))
