"""Transactions that are tried again after they lost against another one."""

import pytest
from django.db import IntegrityError, OperationalError

from contentapi.core.errors import Conflict
from contentapi.db.engine.transactions import MAX_RETRIES, run_transaction
from contentapi.db.statements import execute
from contentapi.models import JobHeartbeat


def write_and_fail(code: str) -> None:
    JobHeartbeat.objects.create(job="job", beat_at="2026-01-01T00:00:00Z", worked_at="2026-01-01T00:00:00Z")
    if code:
        execute(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$")


@pytest.mark.parametrize("code", ["40001", "40P01"])
@pytest.mark.parametrize("failures", [0, MAX_RETRIES, MAX_RETRIES + 1])
def test_lost_transaction_is_tried_again_up_to_three_times(code: str, failures: int) -> None:
    codes = [*[code] * failures, ""]
    attempts = 0

    def action() -> int:
        nonlocal attempts
        attempts += 1
        write_and_fail(codes.pop(0))
        return attempts

    if failures <= MAX_RETRIES:
        assert run_transaction(action) == failures + 1
    else:
        with pytest.raises(OperationalError):
            run_transaction(action)

    assert attempts == min(failures, MAX_RETRIES) + 1
    assert JobHeartbeat.objects.count() == (failures <= MAX_RETRIES)


@pytest.mark.parametrize("code", ["23505", "57014"])
def test_other_errors_are_not_tried_again(code: str) -> None:
    codes = [code]

    with pytest.raises((IntegrityError, OperationalError)):
        run_transaction(lambda: write_and_fail(codes.pop()))

    assert not JobHeartbeat.objects.exists()


def test_cause_of_an_error_decides() -> None:
    codes = ["40001", ""]

    def action() -> None:
        try:
            write_and_fail(codes.pop(0))
        except OperationalError as error:
            raise Conflict("lost") from error

    run_transaction(action)

    assert JobHeartbeat.objects.count() == 1
