"""The command `webhooks`: only the requested value on stdout, messages on stderr, no secret in a list."""

import pytest
from django.core.management.base import CommandError

from contentapi.core.identity import Role
from contentapi.events.feed import read_log
from contentapi.events.webhooks.models import Delivery, Webhook
from contentapi.events.webhooks.signing import decrypt_secret
from tests.event_log import relay
from tests.factories import make_author, make_post, make_user
from tests.users.command_runs import EMAIL, run_command, run_json
from tests.webhook_rows import URL, make_webhook
from users.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(db: None) -> User:  # noqa: ARG001
    user = make_user(Role.ADMIN, email=EMAIL, name="Ines")
    relay()  # of a new database, the first event begins an epoch
    return user


def read_secret() -> str | None:
    webhook = Webhook.objects.get()
    return decrypt_secret(bytes(webhook.secret), webhook.pk)


def test_create_prints_the_secret_only(admin: User) -> None:
    arguments = ("--name", "Site", "--type", "post.*", "--type", "author.updated", "--coalesce", "30")
    out, err = run_command("webhooks", "create", EMAIL, URL, *arguments, "--scope", "posts:read")

    webhook = Webhook.objects.get()
    assert (out, err) == (f"{read_secret()}\n", f"The id is {webhook.pk}.\n")
    assert (webhook.maker_id, webhook.url, webhook.coalesce) == (admin.pk, URL, 30)
    assert (webhook.types, webhook.scopes) == (["author.updated", "post.*"], ["posts:read"])


@pytest.mark.usefixtures("admin")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create", "nobody@example.invalid", URL, "--name", "x", "--type", "post.*"], "There is no user"),
        (["create", EMAIL, "http://hooks.example.com/", "--name", "x", "--type", "post.*"], "url: Only https"),
        (["create", EMAIL, URL, "--name", "x"], "the following arguments are required: --type"),
        (["create", EMAIL, URL, "--name", "x", "--type", "post.lost"], "types: There are no events"),
        (["ping", "1"], "There is no webhook"),
        (["disable"], "the following arguments are required: ID"),
    ],
)
def test_wrong_argument_is_an_error(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError) as raised:
        run_command("webhooks", *arguments)

    assert message in str(raised.value)
    assert not Webhook.objects.exists()


def test_list_shows_webhooks_without_secrets(admin: User) -> None:
    webhook = make_webhook(admin, name="Site\n")
    run_command("webhooks", "disable", str(webhook.pk))

    [row] = run_json("webhooks", "list")
    table, _ = run_command("webhooks", "list")

    assert (row["id"], row["maker"], row["state"]) == (str(webhook.pk), "Ines", "disabled: person")
    assert (len(table.splitlines()), "post.*" in table, "whsec_" in table + str(row)) == (2, True, False)


def test_ping_names_its_delivery(admin: User) -> None:
    out, err = run_command("webhooks", "ping", str(make_webhook(admin).pk))

    assert (out, err) == ("", f"A ping is sent as {Delivery.objects.get().message_id}.\n")


def test_rotate_prints_a_new_secret(admin: User) -> None:
    webhook = make_webhook(admin)
    before = read_secret()

    out, err = run_command("webhooks", "rotate", str(webhook.pk))

    assert (out, err, out == f"{before}\n") == (f"{read_secret()}\n", "", False)


@pytest.mark.parametrize(("options", "count"), [([], 2), (["--type", "post.created"], 1), (["--only-failed"], 0)])
def test_replay_prints_the_number_of_deliveries(admin: User, options: list[str], count: int) -> None:
    cursor = read_log()
    make_post(author=make_author(), status="published")
    relay()
    webhook = make_webhook(admin, types=["post.*", "author.*"])

    after = cursor.format_cursor(cursor.position)
    out, _ = run_command("webhooks", "replay", str(webhook.pk), "--after", after, *options)

    assert (out, Delivery.objects.count()) == (f"{count}\n", count)
