"""The permission table in the admin site, the third interface: the actions as a browser does them."""

import pytest

from tests.contract.admin_browser import STAFF, log_in
from tests.contract.admin_pages import ADMIN, NARROWER, NO_PAGE
from tests.contract.permission_table import ADMIN_ROWS, ROWS
from tests.contract.permissions import Outcome, Row
from tests.contract.worlds import make_worlds, read_all_rows, roll_back

ALL_ROWS = [*ROWS, *ADMIN_ROWS]


def choose_cells(row: Row) -> dict[str, Outcome]:
    """Return the cells at the limits of a row, and those where the admin allows less than the table."""
    callers, narrower, _ = NARROWER.get((row.action, row.whose), ((), "", ""))
    less: dict[str, Outcome] = dict.fromkeys(callers, narrower)
    outcomes = {caller: row.outcomes[caller] for caller in STAFF} | less
    return row._replace(outcomes=outcomes).choose_cells() | less


@pytest.mark.thorough
@pytest.mark.django_db
@pytest.mark.usefixtures("media")
@pytest.mark.parametrize("caller", STAFF)
def test_acts_in_the_admin_have_the_outcomes_of_the_table(subtests: pytest.Subtests, caller: str) -> None:
    worlds = log_in(make_worlds(caller))

    for row in ALL_ROWS:
        cells = choose_cells(row)
        if row.action in NO_PAGE or caller not in cells:
            continue
        with subtests.test(f"{caller}: {row}"):
            with roll_back():
                outcome = ADMIN[row.action](worlds[row.whose])
                rows = read_all_rows()
            assert outcome == cells[caller]
            assert (rows != worlds[row.whose].rows) is row.changes_rows(outcome)


def test_every_action_has_a_page_or_a_reason_why_it_has_none() -> None:
    assert set(ADMIN) | set(NO_PAGE) == {row.action for row in ALL_ROWS}
    assert not set(ADMIN) & set(NO_PAGE)


def test_every_narrower_rule_is_a_row_of_the_table() -> None:
    outcomes = {(row.action, row.whose): row.outcomes for row in ROWS}

    for key, (callers, outcome, _) in NARROWER.items():
        assert all(outcomes[key][caller] != outcome for caller in callers), key
