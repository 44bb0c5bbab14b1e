"""Page sizes and ids."""

import re

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pytest_django import Settings

from contentapi.core.errors import Malformed
from contentapi.core.pagination import parse_id, require_page_size

ALMOST_IDS = st.text() | st.from_regex(r"\A[-+ ]?0*[0-9]{1,25}\n?\Z") | st.integers().map(str)


@pytest.mark.parametrize(("limit", "size"), [(None, 10), (1, 1), (10, 10), (99, 99), (100, 100)])
def test_limit_in_range_is_the_page_size(limit: int | None, size: int) -> None:
    assert require_page_size(limit, default=10) == size


@pytest.mark.parametrize("limit", [0, -1, 101, 2**63])
def test_limit_out_of_range_is_rejected_with_its_name_and_the_range(limit: int) -> None:
    with pytest.raises(Malformed) as raised:
        require_page_size(limit, default=10)

    assert raised.value.message == f"limit must be from 1 to 100 (CONTENTAPI_MAX_PAGE), and is {limit}."


def test_largest_page_is_a_setting(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_page=500)

    assert require_page_size(500, default=10) == 500
    with pytest.raises(Malformed, match="from 1 to 500"):
        require_page_size(501, default=10)


@given(st.integers(min_value=1, max_value=2**63 - 1))
@example(1)
@example(2**63 - 1)
def test_canonical_id_is_its_number(number: int) -> None:
    assert parse_id(str(number)) == number


@given(ALMOST_IDS)
@example("")
@example("01")
@example("1\n")
@example("1_0")
@example("\u0661")
@example("\u00b2")
@example("9" * 19)
@example("9" * 5000)
@example(str(2**63))
@example(str(2**64))
def test_any_other_text_is_no_id(text: str) -> None:
    is_id = re.fullmatch("[1-9][0-9]{0,18}", text) is not None and int(text) <= 2**63 - 1

    assert parse_id(text) == (int(text) if is_id else 0)
