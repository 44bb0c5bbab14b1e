"""Lists of orders. tests/contract/test_permission_table.py tests the permissions."""

import pytest

from contentapi.core.identity import OPERATOR
from orders import selectors
from tests.factories import make_order


@pytest.mark.django_db
def test_orders_are_listed_newest_first() -> None:
    orders = [make_order(pk=number) for number in (2, 3, 1)]

    assert list(selectors.select_orders(OPERATOR)) == [orders[1], orders[0], orders[2]]


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["", "abc", "0", "01", "+1", "-1", str(2**63), "\0"])
def test_invalid_id_finds_nothing(text: str) -> None:
    make_order(pk=1)

    assert selectors.select_order_by_id(OPERATOR, text).queryset().first() is None
    assert selectors.select_order_by_id(OPERATOR, "1").queryset().first() is not None
