"""Send off an order that is paid."""

from argparse import ArgumentParser
from typing import Any

from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR
from orders import services


class Command(OperatorCommand):
    help = "Send off an order that is paid: it is shipped from now on, and can be tracked."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", help="which order")
        parser.add_argument("--carrier", required=True, metavar="C", help="who carries it")
        parser.add_argument("--tracking-number", required=True, metavar="T", help="what the carrier calls it")

    def handle(self, *_: Any, id: str, carrier: str, tracking_number: str, **__: Any) -> None:  # noqa: A002
        services.ship_order(actor=OPERATOR, order_id=id, carrier=carrier, tracking_number=tracking_number)
        self.info(f"Order {id} is shipped.")
