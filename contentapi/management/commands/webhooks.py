"""Webhooks for operators: `webhooks list | create | ping | rotate | replay | disable`."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from contentapi.auth.people import get_user_by_email, name_users
from contentapi.core.commands import ListCommand, add_scopes, format_time
from contentapi.core.identity import OPERATOR
from contentapi.events.webhooks import resending, selectors, services
from contentapi.events.webhooks.models import Webhook

COLUMNS = ("id", "state", "createdAt", "failingSince", "types", "url", "name")
CREATE = "create a webhook with the rights of a user, and print its secret, which cannot be printed again"
CHANGES = {
    "ping": "send an event of the type webhook.ping",
    "rotate": "make a new secret and print it; the former one is valid for 24 hours too",
    "disable": "send nothing any more",
    "replay": "send events again, and print their number",
}


class Command(ListCommand):
    help = "Manage webhooks. Each action has a help of its own."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        super().add_arguments(actions.add_parser("list", help="print all webhooks"))
        add_create_arguments(actions.add_parser("create", help=CREATE))
        for action, text in CHANGES.items():
            changing = actions.add_parser(action, help=text)
            changing.add_argument("id", metavar="ID", help="the id of the webhook")
        changing.add_argument("--after", metavar="CURSOR", help="default: from the oldest event that is kept")
        changing.add_argument("--to", metavar="CURSOR", help="default: up to the last event")
        add_types(changing)
        changing.add_argument("--only-failed", action="store_true", help="only events that could not be delivered")

    def handle(self, *, action: str, **options: Any) -> None:
        getattr(self, action)(options)

    def list(self, options: Mapping[str, Any]) -> None:
        webhooks = list(selectors.select_visible_webhooks(OPERATOR).queryset().order_by("created_at", "pk"))
        names = name_users(webhook.maker_id for webhook in webhooks)
        self.print_rows((describe_webhook(each, names) for each in webhooks), COLUMNS, as_json=options["as_json"])

    def create(self, options: Mapping[str, Any]) -> None:
        values = {name: options[name] for name in services.EDITABLE}
        maker = get_user_by_email(options["email"])
        created = services.create_webhook(actor=OPERATOR, maker_id=maker.pk, **values)
        self.info(f"The id is {created.webhook.pk}.")
        self.stdout.write(created.secret)

    def ping(self, options: Mapping[str, Any]) -> None:
        delivery = resending.ping_webhook(actor=OPERATOR, webhook_id=options["id"])
        self.info(f"A ping is sent as {delivery.message_id}.")

    def rotate(self, options: Mapping[str, Any]) -> None:
        self.stdout.write(services.rotate_secret(actor=OPERATOR, webhook_id=options["id"]).secret)

    def disable(self, options: Mapping[str, Any]) -> None:
        webhook = services.edit_webhook(actor=OPERATOR, webhook_id=options["id"], changes={"enabled": False})
        self.info(f"{webhook.name} is disabled.")

    def replay(self, options: Mapping[str, Any]) -> None:
        values = {name: options[name] for name in ("after", "to", "types", "only_failed")}
        replay = resending.replay_webhook(actor=OPERATOR, webhook_id=options["id"], **values)
        self.stdout.write(str(replay.delivery_count))


def add_types(parser: ArgumentParser, **options: Any) -> None:
    parser.add_argument(
        "--type", action="append", dest="types", metavar="T", help="such as post.*; can be repeated", **options
    )


def add_create_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("email", metavar="EMAIL", help="the user whose rights the webhook has")
    parser.add_argument("url", metavar="URL", help="the address, which begins with https://")
    parser.add_argument("--name", required=True, help="what the webhook is for")
    add_types(parser, required=True)
    parser.add_argument(
        "--selection", metavar="FRAGMENTS", help="what an event has of its object, as GraphQL fragments"
    )
    parser.add_argument("--coalesce", type=int, default=0, metavar="SECONDS", help="default: each event is sent")
    add_scopes(parser, "none, so that it sees what everybody sees")


def describe_webhook(webhook: Webhook, names: Mapping[int, str]) -> dict[str, Any]:
    """Return a webhook as a JSON object, without its secret."""
    return {
        "id": str(webhook.pk),
        "name": webhook.name,
        "url": webhook.url,
        "types": webhook.types,
        "coalesce": webhook.coalesce,
        "scopes": webhook.scopes,
        "maker": names.get(webhook.maker_id),
        "makerId": str(webhook.maker_id),
        "state": f"disabled: {webhook.disabled_reason}" if webhook.disabled_at else "active",
        "createdAt": format_time(webhook.created_at),
        "failingSince": format_time(webhook.failing_since),
        "disabledAt": format_time(webhook.disabled_at),
    }
