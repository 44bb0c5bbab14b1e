"""The command `events tail`."""

import pytest
from django.core.management import CommandError, call_command

from contentapi.core.errors import EventsExpired
from contentapi.events.feed import read_log
from contentapi.management.commands import events
from tests.event_log import relay
from tests.factories import make_author, make_post

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def moments(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What happens while the command waits: by default, a post is created, and then the person stops it."""
    left = ["create", "stop"]

    def wait(_: float) -> None:
        step = left.pop(0)
        if step == "stop":
            raise KeyboardInterrupt
        if step == "new epoch":
            call_command("events", "new-epoch")
            return
        make_post(author=make_author(), status="draft")
        relay()

    monkeypatch.setattr(events, "sleep", wait)
    return left


def tail(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Return what the command prints, without position and time."""
    with pytest.raises(KeyboardInterrupt):
        call_command("events", "tail", *arguments)
    return [" ".join(line.split()[3:]) for line in capsys.readouterr().out.splitlines()]


def test_last_events_are_printed_and_then_the_new_ones(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = make_author(), make_author()
    relay()

    *earlier, author, post = tail(capsys, "--lines", "1")

    assert earlier == [f"author.created {second.pk}"]
    assert first.pk < second.pk
    assert author.startswith("author.created ")
    assert post.startswith("post.created ")
    assert post.endswith(" - -> draft")


def test_types_select_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    make_author()
    relay()

    printed = tail(capsys, "--type", "post.*")

    assert [line.split()[0] for line in printed] == ["post.created"]


def test_events_of_a_new_epoch_are_printed_from_the_last_ones_on(
    capsys: pytest.CaptureFixture[str], moments: list[str]
) -> None:
    moments[:0] = ["new epoch"]
    author = make_author()
    relay()
    before = read_log()

    printed = tail(capsys, "--lines", "1")

    assert printed[0] == printed[2] == f"author.created {author.pk}"
    assert printed[-1].startswith("post.created ")
    with pytest.raises(EventsExpired):
        read_log().parse_cursor(before.format_cursor(before.position))


def test_unknown_type_is_an_error() -> None:
    with pytest.raises(CommandError, match="There are no events of the type"):
        call_command("events", "tail", "--type", "post.eaten")
