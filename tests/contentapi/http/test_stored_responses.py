"""The stored responses of a person are compressed, and have a limit of bytes."""

import json

import pytest

from blog.models import Post
from contentapi.core.identity import Role
from contentapi.http import idempotency
from contentapi.models import IdempotencyRecord
from tests.conftest import make_api_key
from tests.contentapi.http.idempotent_requests import REPLAYED, send_post, send_with_key
from tests.factories import make_actor
from tests.resources import RestResponse

LONG = {"title": "Storm", "body": "The storm tide came at night. " * 5000}


def create(key: str, name: str, body: str = "Low tide.") -> RestResponse:
    return send_with_key("POST", "/posts", {"title": "Ebb", "body": body}, key, name)


def test_response_is_compressed_and_replayed_as_it_was(key: str) -> None:
    first, again = send_post("/posts", LONG, key), send_post("/posts", LONG, key)

    record = IdempotencyRecord.objects.get()
    assert len(first.content) > 150_000
    assert record.size < 10_000
    assert record.size == len(record.body) + len(json.dumps(record.headers, separators=(",", ":")))
    assert (again.status, again.content, again.headers[REPLAYED]) == (201, first.content, "true")


def test_write_above_the_limit_is_refused_and_writes_nothing(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert create(key, "a").status == 201
    record = IdempotencyRecord.objects.get()
    monkeypatch.setattr(idempotency, "MAX_STORED", 2 * record.size + 50)
    assert create(key, "b").status == 201

    for _ in range(2):
        refused = create(key, "c")
        assert refused.status == 429
        assert "The responses that are stored for your Idempotency-Keys" in refused.body["error"]
        assert 86_000 < int(refused.headers["Retry-After"]) <= 86_400
    assert (Post.objects.count(), IdempotencyRecord.objects.count()) == (2, 2)

    assert create(key, "a").headers[REPLAYED] == "true"
    assert create(make_api_key(make_actor(Role.ADMIN)), "c").status == 201
    IdempotencyRecord.objects.filter(key=record.key).delete()
    assert create(key, "c").status == 201


def test_write_at_the_limit_is_refused_before_its_work(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert create(key, "a").status == 201
    monkeypatch.setattr(idempotency, "MAX_STORED", 1)
    monkeypatch.setattr(idempotency, "execute_in_savepoint", lambda *_: 1 // 0)

    assert create(key, "b").status == 429


def test_all_credentials_of_a_person_share_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    actor = make_actor(Role.ADMIN)
    assert create(make_api_key(actor), "a").status == 201
    monkeypatch.setattr(idempotency, "MAX_STORED", IdempotencyRecord.objects.get().size + 50)

    assert create(make_api_key(actor), "a").status == 429
