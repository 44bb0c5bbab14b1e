"""The records of Idempotency-Key: what is stored, for how long, and concurrent requests with one key."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from queue import SimpleQueue
from threading import Event

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from contentapi.background import purge_idempotency_keys
from contentapi.core.identity import Role
from contentapi.http import idempotency
from contentapi.models import IdempotencyRecord
from orders.models import Order
from tests.blog.racing import count_waiting_backends, get_backend, race
from tests.conftest import make_api_key
from tests.contentapi.http.idempotent_requests import NEW, REPLAYED, send_post
from tests.factories import make_actor, make_order
from tests.resources import RestResponse, send_request


def test_anonymous_post_is_refused_and_not_stored() -> None:
    responses = [send_request("POST", "/posts", NEW, Idempotency_Key="one") for _ in range(2)]

    assert [response.error[0] for response in responses] == [401, 401]
    assert not IdempotencyRecord.objects.exists()


def test_hash_of_a_request_is_the_same_in_every_release() -> None:
    """Otherwise a request that is repeated after an update would be another request, and refused."""
    stored = "d2ed7c2eb4efa7557719e2c004ee8d56c38d73a2ecda8bf7f85ade9abea1171d"

    assert idempotency.hash_request(["POST", "/posts", ""], b'{"title":"One"}') == stored
    assert idempotency.hash_request([{"b": 1, "a": 2}]) == idempotency.hash_request([{"a": 2, "b": 1}])


def test_key_is_stored_as_a_hash(key: str) -> None:
    send_post("/posts", NEW, key, "a-key-of-the-client")

    [row] = IdempotencyRecord.objects.values_list("key", "request", "headers")

    assert "a-key-of-the-client" not in str(row)
    assert key not in str(row)


def test_response_is_stored_encrypted_and_readable_with_the_present_secret_only(key: str, settings: Settings) -> None:
    send_post("/posts", NEW, key)

    assert NEW["title"].encode() not in bytes(IdempotencyRecord.objects.get().body)
    settings.SECRET_KEY = "another secret"
    refused = send_post("/posts", NEW, key)
    assert refused.error[:2] == (409, "CONFLICT")
    assert "SECRET_KEY" in refused.error[2]


def test_key_expires_after_24_hours(key: str) -> None:
    send_post("/posts", NEW, key)
    IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=24))

    response = send_post("/posts", {**NEW, "title": "Other"}, key)

    assert (response.status, response.headers.get(REPLAYED)) == (201, None)
    assert send_post("/posts", {**NEW, "title": "Other"}, key).headers[REPLAYED] == "true"
    assert IdempotencyRecord.objects.count() == 1


def test_expired_records_are_deleted_in_batches_and_others_kept(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "PURGE_BATCH", 2)
    old = timezone.now() - timedelta(days=2)
    rows = [
        IdempotencyRecord(key=f"{n}", request="", status=200, headers={}, body=b"", created_at=old) for n in range(5)
    ]
    IdempotencyRecord.objects.bulk_create(rows)
    send_post("/posts", NEW, key, "one")
    assert IdempotencyRecord.objects.count() == 6

    purge_idempotency_keys(Event())

    assert [record.created_at > old for record in IdempotencyRecord.objects.all()] == [True]


def test_write_without_a_key_is_not_stored(key: str, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    send_request("POST", "/posts", NEW, X_API_Key=key)

    with django_assert_num_queries(2):  # the key's user, and the insertion, which finds the author and reads the post
        send_request("POST", "/posts", {**NEW, "title": "Another title"}, X_API_Key=key)

    assert not IdempotencyRecord.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_concurrent_request_with_the_same_key_is_409() -> None:
    order, credential = make_order(), make_api_key(make_actor(Role.ADMIN))
    path = f"/orders/{order.pk}/payment"

    responses = race(
        lambda: Order.objects.select_for_update().get(pk=order.pk),
        lambda: send_post(path, None, credential),
        lambda: send_post(path, None, credential),
    )

    paid, waits = sorted(responses, key=lambda response: response.status)
    assert (paid.status, paid.body["status"]) == (200, "paid")
    message = "The first request with this Idempotency-Key is still running. Try again shortly."
    assert waits.error == (409, "CONFLICT", message)
    assert (waits.headers["Retry-After"], waits.headers.get(REPLAYED)) == ("1", None)
    assert send_post(path, None, credential).headers[REPLAYED] == "true"


@pytest.mark.django_db(transaction=True)
def test_lost_database_leaves_no_effect_and_no_record() -> None:
    order, credential = make_order(), make_api_key(make_actor(Role.ADMIN))
    path = f"/orders/{order.pk}/payment"

    pids = SimpleQueue[int]()

    def pay() -> RestResponse:
        try:
            pids.put(get_backend())
            return send_post(path, None, credential)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool, transaction.atomic(), connection.cursor() as cursor:
        Order.objects.select_for_update().get(pk=order.pk)
        run = pool.submit(pay)
        pid = pids.get(timeout=30)
        while not count_waiting_backends([pid]):
            assert not run.done(), run.result()
        cursor.execute("SELECT pg_terminate_backend(%s::int)", [pid])
        assert run.result().error[:2] == (503, "UNAVAILABLE")

    assert (Order.objects.get().status, IdempotencyRecord.objects.count()) == ("pending", 0)
    assert send_post(path, None, credential).body["status"] == "paid"
