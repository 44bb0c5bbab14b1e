from argparse import ArgumentParser
from typing import Any

from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR
from orders import services


class Command(OperatorCommand):
    help = "Ship a paid order. It can then be tracked."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", help="the id of the order")
        parser.add_argument("--carrier", required=True, metavar="C", help="the carrier")
        parser.add_argument("--tracking-number", required=True, metavar="T", help="the carrier's tracking number")

    def handle(self, *, id: str, carrier: str, tracking_number: str, **_: Any) -> None:  # noqa: A002
        services.ship_order(actor=OPERATOR, order_id=id, carrier=carrier, tracking_number=tracking_number)
        self.info(f"Order {id} is shipped.")
