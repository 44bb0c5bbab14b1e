"""Creation of orders: permissions and validation."""

from decimal import Decimal

import pytest

from contentapi.core.errors import Invalid, Unauthenticated
from contentapi.core.identity import ALL_SCOPES, OPERATOR, Actor, Role
from orders.models import Order
from orders.services import create_order
from tests.factories import make_user


def test_operator_must_set_the_user() -> None:
    with pytest.raises(Invalid) as raised:
        create_order(actor=OPERATOR, total=Decimal(1))

    assert raised.value.fields == {"user": ["Name the user: this credential belongs to none."]}


def test_unknown_user_is_invalid() -> None:
    with pytest.raises(Invalid) as raised:
        create_order(actor=OPERATOR, user_id=10**12, total=Decimal(1))

    assert raised.value.fields == {"user": ["There is no user with this id."]}


@pytest.mark.parametrize("role", [Role.READER, Role.ADMIN])
def test_credential_of_a_deleted_user_cannot_order(role: Role) -> None:
    actor = Actor(user_id=10**12, role=role, scopes=ALL_SCOPES, credential="jwt")

    with pytest.raises(Unauthenticated) as raised:
        create_order(actor=actor, total=Decimal(1))

    assert raised.value.message == "The user of this credential does not exist any more."


@pytest.mark.parametrize(
    "total",
    ["0", "-0.01", "0.009", "1.001", "99999999.991", "100000000", "1E-30", "1E+30", "Infinity", "NaN"],
)
def test_total_out_of_range_or_with_more_than_two_decimals_is_invalid(total: str) -> None:
    user = make_user()

    with pytest.raises(Invalid) as raised:
        create_order(actor=OPERATOR, user_id=user.pk, total=Decimal(total))

    assert raised.value.fields == {"total": ["From 0.01 to 99999999.99, with two decimals."]}
    assert not Order.objects.exists()
