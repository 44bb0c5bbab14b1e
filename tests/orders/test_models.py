"""The constraints of orders, and values at their limits."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction

from contentapi.core.errors import get_constraint_name
from tests.factories import make_order, make_user

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SENT = {"status": "shipped", "carrier": "Harbour Post", "tracking_number": "HP1", "shipped_at": NOON}
ARRIVED = {**SENT, "status": "delivered", "delivered_at": NOON}
VIOLATIONS: list[tuple[str, dict[str, Any]]] = [
    ("orders_order_status_known", {"status": "lost"}),
    ("orders_order_total_range", {"total": "0.00"}),
    ("orders_order_shipped_has_tracking", {**SENT, "carrier": ""}),
    ("orders_order_shipped_has_tracking", {**SENT, "tracking_number": ""}),
    ("orders_order_shipped_has_tracking", {**SENT, "shipped_at": None}),
    ("orders_order_delivered_at_iff_delivered", {**ARRIVED, "delivered_at": None}),
    ("orders_order_delivered_at_iff_delivered", {**SENT, "delivered_at": NOON}),
]


def test_every_constraint_has_a_violation() -> None:
    models = apps.get_app_config("orders").get_models()

    names = {constraint.name for model in models for constraint in model._meta.constraints}

    assert names == {name for name, _ in VIOLATIONS}


@pytest.mark.parametrize(("name", "values"), VIOLATIONS)
def test_violation_raises_an_error_with_the_name_of_the_constraint(name: str, values: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError) as raised, transaction.atomic():
        make_order(**values)

    assert get_constraint_name(raised.value) == name


def test_order_of_a_deleted_user_is_kept_without_a_user() -> None:
    user = make_user()
    order = make_order(user=user)

    user.delete()

    order.refresh_from_db()
    assert order.user is None
