"""Print events as they happen: `events tail`."""

from collections.abc import Iterable
from time import sleep
from typing import Any

from django.core.management.base import CommandError, CommandParser

from contentapi.conf.timeouts import EVENTS_IDLE_INTERVAL
from contentapi.core.commands import OperatorCommand, format_cell
from contentapi.core.errors import Malformed
from contentapi.core.identity import OPERATOR
from contentapi.events.feed import read_log, select_events
from contentapi.events.models import Event
from contentapi.schema import EVENT_TYPES

PAGE = 1000


class Command(OperatorCommand):
    help = (
        "Print the last events and then those that happen, until it is stopped: position, time, type, subject, and the "
        "status before and after."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["tail"])
        parser.add_argument(
            "--type",
            action="append",
            dest="types",
            metavar="T",
            help="such as post.published or post.*; can be repeated",
        )
        parser.add_argument("--lines", type=int, default=10, metavar="N", help="earlier events (default: %(default)s)")

    def handle(self, *, types: list[str] | None, lines: int, **_: Any) -> None:
        try:
            names = None if types is None else EVENT_TYPES.parse(types)
        except Malformed as error:
            raise CommandError(error.message) from None
        end = read_log().position
        selected = select_events(OPERATOR, after=0, end=end, types=names, subject=None)
        self.print_events(reversed(selected.queryset().order_by("-position")[: max(0, lines)]))
        while True:
            begin, end = end, read_log().position
            found = select_events(OPERATOR, after=begin, end=end, types=names, subject=None).queryset()
            self.print_events(found.iterator(PAGE))
            sleep(EVENTS_IDLE_INTERVAL)

    def print_events(self, events: Iterable[Event]) -> None:
        for event in events:
            status = f" {event.was or '-'} -> {event.now or '-'}" if event.was or event.now else ""
            time = f"{event.timestamp:%Y-%m-%d %H:%M:%S}"
            self.stdout.write(format_cell(f"{event.position} {time} {event.type} {event.subject_id}{status}"))
