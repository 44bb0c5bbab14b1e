"""`@atomic`: all mutations of an operation or none."""

from functools import partial
from itertools import count

import msgspec
import pytest
from django.db import connection
from pytest_django import Settings

from blog.models import Post
from contentapi.core.identity import Role
from contentapi.db.distribution import get_backend
from contentapi.db.statements import execute
from contentapi.graphql import transactions
from contentapi.models import IdempotencyRecord
from contentapi.schema import SCHEMA
from tests.behaviour.test_graphql_idempotency import create
from tests.blog.post_copies import save
from tests.blog.racing import race
from tests.conftest import GraphQL, make_api_key
from tests.contentapi.http.idempotent_requests import REPLAYED
from tests.factories import make_actor, make_post
from tests.graphql_requests import GraphQLResponse, post_to_graphql

NOTE_TIMEOUT = """
CREATE FUNCTION pg_temp.note() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN NEW.title = current_setting('statement_timeout'); RETURN NEW; END
$$;
CREATE TRIGGER note BEFORE INSERT ON blog_post FOR EACH ROW EXECUTE FUNCTION pg_temp.note();
"""
NOTE_TIMEOUTS = """
CREATE FUNCTION pg_temp.note_timeouts() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO pg_temp.noted (milliseconds)
      SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout';
    PERFORM pg_sleep(0.6);
    RETURN NULL;
  END
$$;
CREATE TRIGGER note AFTER UPDATE ON blog_post FOR EACH ROW EXECUTE FUNCTION pg_temp.note_timeouts();
CREATE TRIGGER note AFTER DELETE ON blog_workingcopy FOR EACH ROW EXECUTE FUNCTION pg_temp.note_timeouts();
"""
ARCHIVE = "archivePost(id: {}) {{ id }}"


def build_operation(*mutations: str, directive: str = "@atomic") -> str:
    fields = " ".join(f"m{number}: {mutation}" for number, mutation in enumerate(mutations))
    return f"mutation {directive} {{ {fields} }}"


def test_server_error_rolls_back(gql: GraphQL) -> None:
    post = make_post()
    execute("ALTER TABLE blog_comment RENAME TO lost")

    comment = f'addComment(input: {{postId: {post.pk}, body: "b"}}) {{ id }}'
    response = gql(build_operation(create("A"), comment, create("C")), actor=make_actor(Role.ADMIN))

    assert (response.status, response.codes, response.body["data"]) == (500, ["INTERNAL"], None)
    assert Post.objects.count() == 1


def test_directive_belongs_to_mutations_and_is_introspected(gql: GraphQL) -> None:
    assert gql("query @atomic { __typename }").codes == ["GRAPHQL_VALIDATION_FAILED"]
    directive = SCHEMA.get_directive("atomic")
    assert directive is not None
    assert [location.name for location in directive.locations] == ["MUTATION"]


@pytest.mark.usefixtures("without_time_limits")
@pytest.mark.parametrize(("number", "status"), [(50, 200), (51, 400)])
def test_operation_may_have_fifty_mutations(gql: GraphQL, number: int, status: int) -> None:
    response = gql(build_operation(*[create("A")] * number), actor=make_actor(Role.ADMIN))

    assert (response.status, Post.objects.count()) == (status, number if status == 200 else 0)


@pytest.mark.django_db(transaction=True)
def test_statement_ends_at_the_time_limit(gql: GraphQL) -> None:
    """The limit of the transaction is below that of a statement, and ends with the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        before = cursor.fetchone()
        cursor.execute(NOTE_TIMEOUT)
    try:
        data = gql(build_operation(create("A")), actor=make_actor(Role.ADMIN)).data
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER note ON blog_post")
            cursor.execute("SHOW statement_timeout")
            after = cursor.fetchone()

    assert data["m0"]["title"].removesuffix("ms").isdecimal()
    assert after == before


@pytest.mark.parametrize(("directive", "key"), [("@atomic", ""), ("", "one")])
def test_mutation_ends_when_the_time_passes_within_it(
    monkeypatch: pytest.MonkeyPatch, directive: str, key: str
) -> None:
    """Each look at the clock takes 1.2 s: one before and one after a mutation would be in time."""
    clock = count(0, 1.2)
    monkeypatch.setattr(transactions, "monotonic", lambda: next(clock))

    response = send(build_operation(create("A"), directive=directive), make_api_key(make_actor(Role.ADMIN)), key)

    assert (response.status, response.codes, response.body["data"]) == (503, ["UNAVAILABLE"], None)
    assert not Post.objects.exists()


def test_statements_of_a_mutation_share_its_time(gql: GraphQL) -> None:
    """A slow statement leaves less time to those after it, so that nobody waits longer for what the operation holds."""
    post = make_post()
    save(post, title="B")
    publish = f'publishWorkingCopy(input: {{postId: "{post.pk}"}}) {{ post {{ id }} }}'
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE noted (number serial, milliseconds int)")
        cursor.execute(NOTE_TIMEOUTS)
        assert gql(build_operation(publish), actor=make_actor(Role.EDITOR)).status == 200
        cursor.execute("SELECT milliseconds FROM noted ORDER BY number")
        first, *_, last = [milliseconds for (milliseconds,) in cursor.fetchall()]
        cursor.execute("DROP TRIGGER note ON blog_post; DROP TRIGGER note ON blog_workingcopy; DROP TABLE noted")

    assert first <= 5000
    assert last <= first - 400


def test_too_large_result_ends_the_operation(gql: GraphQL, settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_response=1000)
    body = "x" * 600
    large = f'createPost(input: {{title: "B", body: "{body}"}}) {{ a: body b: body }}'

    response = gql(build_operation(create("A"), large), actor=make_actor(Role.ADMIN))

    assert (response.status, response.codes, response.body["data"]) == (400, ["LIMIT_EXCEEDED"], None)
    assert not Post.objects.exists()


def test_key_replays_the_result_and_the_error() -> None:
    credential = make_api_key(make_actor(Role.ADMIN))
    succeeding, failing = build_operation(create("A")), build_operation(create("A"), ARCHIVE.format(0))

    responses = [send(query, credential, key) for query, key in ((succeeding, "one"), (failing, "two")) * 2]

    assert [response.status for response in responses] == [200, 404, 200, 404]
    assert [response.headers.get(REPLAYED) for response in responses] == [None, None, "true", "true"]
    assert [response.body for response in responses[2:]] == [response.body for response in responses[:2]]
    assert (Post.objects.count(), IdempotencyRecord.objects.count()) == (1, 2)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("without_time_limits")
@pytest.mark.parametrize(
    ("directive", "keys"), [("@atomic", ("", "")), ("@atomic", ("one", "two")), ("", ("one", "two"))]
)
def test_deadlock_is_tried_again(directive: str, keys: tuple[str, str]) -> None:
    """Each operation has one lock and waits for the test, and then for the lock of the other operation."""
    (first, second, *held), credential = [make_post().pk for _ in range(4)], make_api_key(make_actor(Role.ADMIN))
    operations = [
        build_operation(*[ARCHIVE.format(pk) for pk in order], directive=directive)
        for order in ((first, held[0], second), (second, held[1], first))
    ]

    responses = race(
        lambda: list(get_backend().lock(Post.objects.filter(pk__in=held))),
        *[partial(send, query, credential, key) for query, key in zip(operations, keys, strict=True)],
    )

    assert [response.status for response in responses] == [200, 200]
    assert set(Post.objects.values_list("status", flat=True)) == {"archived"}


def send(query: str, credential: str, key: str) -> GraphQLResponse:
    headers = {"Idempotency_Key": key} if key else {}
    return post_to_graphql({"query": query}, X_API_Key=credential, **headers)
