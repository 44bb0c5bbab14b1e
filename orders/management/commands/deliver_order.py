from argparse import ArgumentParser
from typing import Any

from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR
from orders import services


class Command(OperatorCommand):
    help = "Record the delivery of a shipped order."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", help="the id of the order")

    def handle(self, *, id: str, **_: Any) -> None:  # noqa: A002
        services.deliver_order(actor=OPERATOR, order_id=id)
        self.info(f"Order {id} is delivered.")
