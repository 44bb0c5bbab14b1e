from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError

from contentapi.auth.people import get_user_by_email
from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR
from orders import services


class Command(OperatorCommand):
    help = "Create a pending order for a user, and print its id."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL", help="the user's email")
        parser.add_argument("--total", required=True, metavar="N", help="the amount, with at most two decimals")

    def handle(self, *, email: str, total: str, **_: Any) -> None:
        user = get_user_by_email(email)
        order = services.create_order(actor=OPERATOR, total=parse_amount(total), user_id=user.pk)
        self.stdout.write(str(order.pk))


def parse_amount(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise CommandError(f"--total must be a number such as 18.50, and is {text!r}.") from None
