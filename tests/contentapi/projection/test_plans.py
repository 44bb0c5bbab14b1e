"""Query plans: the most frequent pages are read from indexes, without a sequential scan and without a sort."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count, product
from typing import Any

import pytest
from django.db import connection, transaction
from psycopg import sql
from pytest_django import DjangoDbBlocker

from blog.models import Author, Post
from blog.selectors.posts import POST_ORDERS
from contentapi.core.identity import ALL_SCOPES, Actor, Role
from contentapi.db.statements import execute
from orders.models import Order
from tests.contentapi.projection.execution import run
from tests.contentapi.projection.fixture_rows import ACTORS
from users.models import User

pytestmark = pytest.mark.thorough
BEGAN = datetime(2020, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
FIELDS = "id title tags commentCount author { id name avatarUrl } comments { id body author { name } }"
AROUND = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
CONNECTED = f"""
id title tags author {{ id name avatarUrl }} commentsConnection(first: 10) {{
  edges {{ cursor node {{ id body author {{ name }} }} }} {AROUND} totalCount
}}
"""
EDGES = f"edges {{ cursor node {{ id title }} }} {AROUND}"
DOCUMENTS = {
    "a page of a connection": f"{{ postsConnection {{ edges {{ cursor node {{ {CONNECTED} }} }} {AROUND} }} }}",
    "a post with a page of its comments": f"{{ post(id: 7) {{ {CONNECTED} }} }}",
    "a page": f"{{ posts(limit: 10) {{ {FIELDS} }} }}",
    "a page of a state": f"{{ posts(limit: 10, status: published) {{ {FIELDS} }} }}",
    "a post": f"{{ post(id: 7) {{ {FIELDS} }} }}",
    "an author's page": f"{{ author(id: 7) {{ name email posts(limit: 10) {{ {FIELDS} }} }} }}",
}


@pytest.fixture(scope="module")
def rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:  # noqa: ARG001
    """Create the rows for all tests of this module, and remove them after the last one."""
    with django_db_blocker.unblock(), transaction.atomic():
        create_many_rows()
        yield
        transaction.set_rollback(True)


@pytest.fixture
def many_rows(rows: None, db: None) -> None:
    """Use the rows of this module in one test."""


WRITE_COMMENTS = """
    INSERT INTO blog_comment (post_id, author_id, body, created_at)
    SELECT 1 + n * 7 % 2000, 1 + n % 1000, 'Well said.', timestamptz '2020-01-01Z' FROM generate_series(0, 9999) n
"""


def create_many_rows() -> None:
    """Create enough rows for the planner to prefer an index to a sequential scan.

    The tables are empty before: the dead rows of earlier tests make indexes longer, and so change the planner's choice.
    """
    execute("TRUNCATE blog_author, blog_post, blog_comment, users_user, orders_order CASCADE")
    authors = Author.objects.bulk_create(Author(pk=number, name=f"Author {number}") for number in range(1, 1001))
    Post.objects.bulk_create(
        Post(
            pk=number,
            title="Title",
            body="Text. " * 50,
            status="published" if number % 4 else "draft",
            published_at=BEGAN + number * 41 % 1999 * HOUR if number % 4 else None,
            author=authors[number % 1000],
            coauthor_ids=[authors[(number + 1) % 1000].pk] if number % 5 == 0 else [],
            created_at=BEGAN + number * 37 % 1999 * HOUR,
        )
        for number in range(1, 2001)
    )
    users = User.objects.bulk_create(
        User(pk=number, name=f"User {number % 97}", email=f"{number}@example.invalid", created_at=BEGAN + number * HOUR)
        for number in range(1, 1001)
    )
    Order.objects.bulk_create(
        Order(user=users[number % 1000], total=1, created_at=BEGAN + number * 37 % 1999 * HOUR)
        for number in range(2000)
    )
    execute(WRITE_COMMENTS)
    execute("ANALYZE blog_author, blog_post, blog_coauthorship, blog_comment, users_user, orders_order")
    connection.check_constraints()  # once, and not at the end of each test


CONNECTION = f"""
query ($order: PostOrder, $status: PostStatus, $first: Int, $after: String, $last: Int, $before: String) {{
  postsConnection(
    orderBy: $order, filter: {{status: $status}}, first: $first, after: $after, last: $last, before: $before
  ) {{ edges {{ cursor node {{ id title }} }} {AROUND} }}
}}
"""


def iterate_nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from iterate_nodes(below)


def explain_generic_plan(statement: str, parameters: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Return the nodes of the generic plan, which a prepared statement uses for all values."""
    places = count(1)
    numbered = re.sub("%s|%%", lambda found: f"${next(places)}" if found[0] == "%s" else "%", statement)
    values = sql.SQL(", ").join(map(sql.Literal, map(str, parameters)))
    with connection.cursor() as cursor:
        cursor.execute(
            "SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL random_page_cost = 1.1"
        )  # as on the server
        cursor.execute(f"PREPARE explained AS {numbered}")
        cursor.execute(sql.SQL("EXPLAIN (FORMAT JSON) EXECUTE explained({})").format(values))
        [[explained]] = cursor.fetchall()
        cursor.execute("DEALLOCATE explained")
    plan = json.loads(explained) if isinstance(explained, str) else explained
    return list(iterate_nodes(plan[0]["Plan"]))


@pytest.mark.parametrize("actor_name", ["anonymous", "author"])
@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.usefixtures("many_rows")
def test_page_is_read_from_indexes_without_a_sort(document: str, actor_name: str) -> None:
    [(statement, parameters)] = run(DOCUMENTS[document], actor=ACTORS[actor_name]).statements

    plan = explain_generic_plan(statement, parameters)

    assert {node["Node Type"] for node in plan} & {"Seq Scan", "Sort", "Incremental Sort", "Hash"} == set()
    assert {"blog_author_pkey", "blog_comment_post_state"} <= {node.get("Index Name") for node in plan}


@pytest.mark.usefixtures("many_rows")
def test_connection_is_read_from_the_index_of_its_order() -> None:
    for order, status in product(POST_ORDERS, ("published", None)):
        given = {"order": order, "status": status}
        middle = run(CONNECTION, {**given, "first": 50}, actor=ACTORS["operator"]).data["postsConnection"]
        cursor = middle["pageInfo"]["endCursor"]
        names = {"created_at": "newest", "updated_at": "updated", "publication_order": "published"}
        column = names[POST_ORDERS[order].column]

        for window in ({"first": 10}, {"first": 10, "after": cursor}, {"last": 10, "before": cursor}, {"last": 10}):
            [(statement, parameters)] = run(CONNECTION, {**given, **window}, actor=ACTORS["operator"]).statements
            plan = explain_generic_plan(statement, parameters)

            assert "Seq Scan" not in {node["Node Type"] for node in plan}
            indexes = {node["Index Name"] for node in plan if "Index Name" in node}
            assert indexes == {f"blog_post_{column}" if status is None else f"blog_post_public_{column}"}
            sorts = [node for node in plan if node["Node Type"] in ("Sort", "Incremental Sort")]
            assert len(sorts) == ("last" in window), "only a page that is read backwards is sorted, to reverse it"
            assert all("Limit" in {below["Node Type"] for below in iterate_nodes(node)} for node in sorts)


@pytest.mark.usefixtures("many_rows")
def test_anonymous_request_does_not_search_posts_of_a_hidden_status() -> None:
    document = "{ posts { author { posts(status: scheduled) { id } } } }"
    [(statement, parameters)] = run(document, actor=ACTORS["anonymous"]).statements

    plan = explain_generic_plan(statement, parameters)

    assert "false" in {node.get("One-Time Filter") for node in plan}


@pytest.mark.parametrize("actor_name", ["author", "operator"])
@pytest.mark.usefixtures("many_rows")
def test_author_posts_of_a_rare_status_are_found_by_an_index(actor_name: str) -> None:
    document = "{ posts { author { posts(status: scheduled) { id } } } }"
    [(statement, parameters)] = run(document, actor=ACTORS[actor_name]).statements

    plan = explain_generic_plan(statement, parameters)

    assert "blog_post_own_newest" in {node.get("Index Name") for node in plan}


@pytest.mark.usefixtures("many_rows")
def test_hidden_posts_of_other_authors_are_not_read() -> None:
    document = "{ posts { author { posts(status: draft) { title } } } }"
    [(statement, parameters)] = run(document, actor=ACTORS["author"]).statements

    plan = explain_generic_plan(statement, parameters)

    # Those that are found by their ids are on the list of a co-author.
    indexed = [node for node in plan if node.get("Index Name", "").startswith("blog_post_")]
    posts = [node for node in indexed if node["Index Name"] != "blog_post_pkey"]
    names = {node["Index Name"] for node in posts}
    assert "blog_post_own_newest" in names
    assert all(name.startswith("blog_post_public_") for name in names - {"blog_post_own_newest"})
    assert all("author_id = " in node["Index Cond"] for node in posts if "_own_" in node["Index Name"])
    assert not any("author_id" in node.get("Filter", "") for node in posts)


@pytest.mark.parametrize("order", POST_ORDERS)
@pytest.mark.usefixtures("many_rows")
def test_page_of_an_author_merges_public_and_own_posts_in_order(order: str) -> None:
    [(statement, parameters)] = run(CONNECTION, {"order": order, "first": 10}, actor=ACTORS["author"]).statements

    kinds = {node["Node Type"] for node in explain_generic_plan(statement, parameters)}

    assert "Merge Append" in kinds
    assert "Append" not in kinds, "all posts would be sorted"


WRITE_DRAFTS = """
    INSERT INTO blog_post (id, title, body, status, author_id, created_at, updated_at, tags, version)
    SELECT 10000 + n, 'Draft', repeat('Text. ', 50), 'draft', 1 + n % 1000, moment, moment, '{rare}', 1
    FROM generate_series(1, 20000) n, LATERAL (SELECT timestamptz '2030-01-01' + n * interval '1 minute') t(moment)
"""
PUBLIC_PAGES = {
    **{name: document for name, document in DOCUMENTS.items() if "post(" not in document},
    **{f"a connection {order}": f"{{ postsConnection(orderBy: {order}) {{ {EDGES} }} }}" for order in POST_ORDERS},
    "the last page": f"{{ postsConnection(last: 10) {{ {EDGES} }} }}",
    "a connection of a state": f"{{ postsConnection(filter: {{status: published}}) {{ {EDGES} totalCount }} }}",
    "a connection of an author": f'{{ postsConnection(filter: {{author: "7"}}) {{ {EDGES} totalCount }} }}',
    "a connection of a tag": f'{{ postsConnection(filter: {{tag: "rare"}}) {{ {EDGES} totalCount }} }}',
    "a connection of some days": f"""{{ postsConnection(
        filter: {{createdFrom: "2020-01-01T00:00:00Z", createdBefore: "2020-02-01T00:00:00Z"}}
    ) {{ {EDGES} totalCount }} }}""",
}


@pytest.mark.usefixtures("many_rows")
def test_public_pages_use_public_indexes_with_old_and_new_statistics() -> None:
    execute(WRITE_DRAFTS)
    assert_public_indexes()  # with the statistics of `many_rows`
    execute("ANALYZE blog_post")
    assert_public_indexes()


def assert_public_indexes() -> None:
    for actor_name, own in {"anonymous": [], "author": ["blog_post_own_", "blog_post_author_newest"]}.items():
        # The posts of a list of co-authorships are found by their ids, those of two authors by either of them.
        assert_public_indexes_of(actor_name, ("blog_post_public_", "blog_post_pkey", *own))


def assert_public_indexes_of(actor_name: str, allowed: tuple[str, ...]) -> None:
    used: dict[str, set[str]] = {}
    for name, document in PUBLIC_PAGES.items():
        [(statement, parameters)] = run(document, actor=ACTORS[actor_name]).statements
        plan = explain_generic_plan(statement, parameters)
        assert ("Seq Scan", "blog_post") not in {(node["Node Type"], node.get("Relation Name")) for node in plan}
        used[name] = {node["Index Name"] for node in plan if node.get("Index Name", "").startswith("blog_post_")}

    assert {name for name, indexes in used.items() if not any("_public_" in index for index in indexes)} == set()
    assert {index for indexes in used.values() for index in indexes if not index.startswith(allowed)} == set()


PAGES = {
    "authors(orderBy: {field: name})": "blog_author_name",
    "authors(last: 10, orderBy: {field: createdAt, direction: desc})": "blog_author_created",
    "users(orderBy: {field: name, direction: desc})": "users_user_name",
    "users": "users_user_created",
    "orders": "orders_order_created",
    "orders(last: 10)": "orders_order_created",
}


@pytest.mark.parametrize(("field", "index"), PAGES.items())
@pytest.mark.usefixtures("many_rows")
def test_page_of_a_whole_table_is_read_from_the_index_of_its_order(field: str, index: str) -> None:
    document = f"{{ {field} {{ edges {{ cursor node {{ id }} }} {AROUND} }} }}"
    [(statement, parameters)] = run(document, actor=ACTORS["operator"]).statements

    plan = explain_generic_plan(statement, parameters)

    assert index in {node.get("Index Name") for node in plan}
    is_backward = "last" in field  # the page is sorted, once it has been read
    assert not ({"Seq Scan"} if is_backward else {"Sort", "Seq Scan"}) & {node["Node Type"] for node in plan}


@pytest.mark.parametrize("field", ["orders", "viewer { orders"])
@pytest.mark.usefixtures("many_rows")
def test_own_orders_are_read_from_an_index(field: str) -> None:
    end = "}" if field.startswith("viewer") else ""
    document = f"{{ {field} {{ edges {{ cursor node {{ id total }} }} {AROUND} totalCount }} {end} }}"
    reader = Actor(7, Role.READER, ALL_SCOPES, "api-key")
    [(statement, parameters)] = run(document, actor=reader).statements

    plan = explain_generic_plan(statement, parameters)

    orders = [node for node in plan if node.get("Relation Name") == "orders_order"]
    assert all("user_id" in node.get("Index Cond", "") for node in orders if node["Node Type"] != "Bitmap Heap Scan")
    assert "Seq Scan" not in {node["Node Type"] for node in plan}
