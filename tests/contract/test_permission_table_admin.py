"""The whole permission table in the admin site, the third interface: the acts as a browser does them."""

import pytest
from django.test import Client
from django.urls import reverse

from tests.contract.admin_pages import ADMIN, AS_ONESELF, NARROWER, NO_PAGE, STAFF
from tests.contract.permissions import ADMIN_ROWS, CHANGE_NOTHING, ROWS, Outcome, Row, make_world
from tests.contract.test_permission_table import read_all_rows
from users.models import User

pytestmark = pytest.mark.django_db


def adapt(row: Row, caller: str, outcome: Outcome) -> Outcome:
    callers, narrower, _ = NARROWER.get((row.act, row.whose), ((), "", ""))
    return narrower if caller in callers else outcome


CELLS = [
    pytest.param(row, caller, adapt(row, caller, outcome), id=f"{caller}: {row}")
    for row in [*ROWS, *ADMIN_ROWS]
    if row.act in ADMIN
    for caller, outcome in row.cells
    if caller in STAFF
]


@pytest.mark.parametrize(("row", "caller", "outcome"), CELLS)
def test_act_in_the_admin_comes_to_what_the_table_says(row: Row, caller: str, outcome: Outcome) -> None:
    world = make_world(caller, row.whose)
    User.objects.update(last_login=None)
    before = read_all_rows()

    came_to = ADMIN[row.act](world)

    User.objects.update(last_login=None)  # set when the test logs in
    assert came_to == outcome
    unchanged = outcome not in ("ok", AS_ONESELF) or row.act.startswith(("read", "list")) or row.act in CHANGE_NOTHING
    assert (read_all_rows() == before) is unchanged


def test_every_act_has_a_page_or_a_reason_why_it_has_none() -> None:
    assert set(ADMIN) | set(NO_PAGE) == {row.act for row in [*ROWS, *ADMIN_ROWS]}
    assert not set(ADMIN) & set(NO_PAGE)


def test_every_narrower_rule_is_a_row_of_the_table() -> None:
    cells = {(row.act, row.whose): dict(row.cells) for row in ROWS}

    for key, (callers, outcome, _) in NARROWER.items():
        assert all(cells[key][caller] != outcome for caller in callers), key


@pytest.mark.parametrize("logged_in", [False, True], ids=["anonymous", "reader"])
@pytest.mark.parametrize(
    "page", ["blog_post", "blog_author", "blog_comment", "blog_importjob", "users_user", "users_apikey", "orders_order"]
)
def test_anonymous_caller_and_reader_get_the_login(client: Client, page: str, *, logged_in: bool) -> None:
    world = make_world("reader", "own")
    if logged_in:
        client.force_login(world.target.user)
    urls = [reverse(f"admin:{page}_{name}") for name in ("changelist", "add")]
    urls += [reverse(f"admin:{page}_{name}", args=[1]) for name in ("change", "delete", "history")]
    if page in ("blog_comment", "users_user", "orders_order"):
        urls.append(reverse(f"admin:{page}_act", args=[1, "delete"]))
    User.objects.update(last_login=None)
    before = read_all_rows()

    responses = [send(url) for url in urls for send in (client.get, client.post)]

    assert {response.status_code for response in responses} == {302}
    assert all(response["Location"].startswith(reverse("admin:login")) for response in responses)
    assert read_all_rows() == before
