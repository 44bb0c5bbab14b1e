"""Automatic persisted queries and trusted documents (docs/decisions/0046-persisted-documents.md)."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.conf import settings as django_settings
from django.test import Client

from contentapi.conf import conf
from contentapi.graphql import persisted_documents
from contentapi.graphql.persisted_documents import REDIS_PREFIX, PersistedDocuments, SharedTexts
from contentapi.graphql.trusted_documents import ManifestError, TrustedDocuments, load_trusted_documents
from contentapi.schema import SCHEMA
from contentapi.urls import endpoint
from tests.deployment.redis_server import RedisServer
from tests.graphql_requests import PostToGraphQL, build_error_entry

TEXT = "query Ping { __typename }"
HASH = sha256(TEXT.encode()).hexdigest()
MANIFESTS = Path(__file__).parent / "manifests"
NOT_TRUSTED = "This server executes trusted documents only, and this document is not one of them."

pytestmark = pytest.mark.django_db


def use(**values: Any) -> Any:
    """Return the environment with other values."""
    return msgspec.structs.replace(django_settings.ENVIRONMENT, **values)


def persist(digest: Any = HASH, version: Any = 1) -> dict[str, Any]:
    return {"persistedQuery": {"version": version, "sha256Hash": digest}}


@pytest.fixture(autouse=True)
def documents(monkeypatch: pytest.MonkeyPatch) -> PersistedDocuments:
    """Let the endpoint begin without persisted documents."""
    documents = PersistedDocuments(TrustedDocuments({}))
    monkeypatch.setitem(vars(endpoint), "documents", documents)
    return documents


def trust(documents: PersistedDocuments, *, are_required: bool = False, **texts: str) -> None:
    documents.trusted = TrustedDocuments(texts, are_required=are_required)


# --- Automatic persisted queries


def test_unknown_hash_is_learned_from_a_valid_request(post: PostToGraphQL) -> None:
    unknown = post({"extensions": persist()})
    learned = post({"query": TEXT, "extensions": persist()})
    known = post({"extensions": persist()})

    error = build_error_entry(unknown, "PERSISTED_QUERY_NOT_FOUND", 400, "PersistedQueryNotFound")
    assert (unknown.status, unknown.body) == (400, {"errors": [error]})
    assert learned.data == known.data == {"__typename": "Query"}


def test_hash_of_another_text_is_400_and_not_learned(post: PostToGraphQL) -> None:
    digest = sha256(b"another text").hexdigest()
    response = post({"query": TEXT, "extensions": persist(digest)})

    message = "extensions.persistedQuery.sha256Hash is not the SHA-256 of the query."
    assert response.body == {"errors": [build_error_entry(response, "BAD_REQUEST", 400, message)]}
    assert post({"extensions": persist(digest)}).codes == ["PERSISTED_QUERY_NOT_FOUND"]


@pytest.mark.parametrize("text", ["{", "{ nothing }", "{ " + "a:__typename " * 31 + "}"])
def test_invalid_document_is_not_learned(post: PostToGraphQL, text: str) -> None:
    extensions = persist(sha256(text.encode()).hexdigest())

    assert post({"query": text, "extensions": extensions}).status == 400
    assert post({"extensions": extensions}).codes == ["PERSISTED_QUERY_NOT_FOUND"]


@pytest.mark.parametrize(
    "value",
    [
        "a hash",
        {"version": 2, "sha256Hash": HASH},
        {"version": True, "sha256Hash": HASH},
        {"version": 1},
        {"version": 1, "sha256Hash": ""},
    ],
)
@pytest.mark.parametrize("query", [{}, {"query": TEXT}])
def test_malformed_extension_is_400(post: PostToGraphQL, query: dict[str, str], value: Any) -> None:
    response = post({**query, "extensions": {"persistedQuery": value}})

    message = "extensions.persistedQuery must be {version: 1, sha256Hash: String}."
    assert response.body == {"errors": [build_error_entry(response, "BAD_REQUEST", 400, message)]}


def test_texts_of_a_process_are_bounded(documents: PersistedDocuments) -> None:
    limit = conf.environment.contentapi_persisted_cache
    for number in range(2 * limit // 10_000):
        text = f"{{ __typename }} #{number:010}{'x' * 10_000}"
        documents.remember(sha256(text.encode()).hexdigest(), text)

    assert limit * 0.9 < documents.texts.weight <= limit


# --- Redis


def test_redis_shares_texts_between_processes(redis_server: RedisServer) -> None:
    one, other = SharedTexts(redis_server.url), SharedTexts(redis_server.url)

    one.put(HASH, TEXT)

    assert other.get(HASH) == TEXT
    assert other.get(sha256(b"unknown").hexdigest()) is None


def test_redis_keeps_a_bounded_number_of_texts(redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    slots = 256
    monkeypatch.setattr(persisted_documents, "SLOTS", slots)
    shared = SharedTexts(redis_server.url)
    digests = {text: sha256(text.encode()).hexdigest() for text in map(str, range(2 * slots))}
    for text, digest in digests.items():
        shared.put(digest, text)

    keys = shared.redis.client.keys(f"{REDIS_PREFIX}*")
    assert 0.5 * slots < len(keys) <= slots
    assert 0 < shared.redis.client.ttl(keys[0]) <= 7 * 24 * 3600
    assert all(shared.get(digest) in (text, None) for text, digest in digests.items())


def test_text_of_another_program_in_redis_is_not_executed(redis_server: RedisServer) -> None:
    shared = SharedTexts(redis_server.url)
    shared.put(HASH, "mutation { deletePost(id: 1) }")

    assert shared.get(HASH) is None


def test_failed_redis_delays_no_request_twice(redis_server: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    documents = PersistedDocuments(TrustedDocuments({}))
    documents.shared = SharedTexts(redis_server.url)
    redis_server.kill()

    for _ in range(3):
        assert documents.find_persisted(HASH) is None
    documents.remember(HASH, TEXT)

    assert documents.find_persisted(HASH) == TEXT
    assert [record.message for record in caplog.records] == [
        "Redis is unavailable (ConnectionError). Persisted queries are kept in this process."
    ]


# --- Trusted documents


def test_trusted_document_is_found_by_its_id_and_its_hash(
    post: PostToGraphQL, client: Client, documents: PersistedDocuments
) -> None:
    trust(documents, ping=TEXT)

    assert post({"documentId": "ping"}).data == {"__typename": "Query"}
    assert post({"documentId": HASH}).data == {"__typename": "Query"}
    assert post({"extensions": persist()}).data == {"__typename": "Query"}
    assert client.get("/graphql?documentId=ping").json() == {"data": {"__typename": "Query"}}


def test_unknown_id_is_400(post: PostToGraphQL) -> None:
    response = post({"documentId": "nothing"})

    message = "There is no trusted document with the id nothing."
    assert response.body == {"errors": [build_error_entry(response, "DOCUMENT_NOT_FOUND", 400, message)]}


def test_query_beside_an_id_is_400(post: PostToGraphQL) -> None:
    assert post({"query": TEXT, "documentId": HASH}).codes == ["BAD_REQUEST"]


def test_hash_beside_an_id_must_be_of_this_document(post: PostToGraphQL, documents: PersistedDocuments) -> None:
    trust(documents, ping=TEXT)

    assert post({"documentId": "ping", "extensions": persist()}).data == {"__typename": "Query"}
    assert post({"documentId": "ping", "extensions": persist("0" * 64)}).codes == ["BAD_REQUEST"]


def test_required_documents_are_the_only_ones(post: PostToGraphQL, documents: PersistedDocuments) -> None:
    other = "query Other { __typename }"
    digest = sha256(other.encode()).hexdigest()
    post({"query": other, "extensions": persist(digest)})
    trust(documents, are_required=True, ping=TEXT)

    assert post({"documentId": "ping"}).data == post({"query": TEXT}).data == {"__typename": "Query"}
    assert post({"query": "{ __typename }"}).data == {"__typename": "Query"}
    assert post({"extensions": persist(digest)}).codes == ["PERSISTED_QUERY_NOT_FOUND"]
    for body in ({"query": other}, {"query": other, "extensions": persist(digest)}, {"query": TEXT + " "}):
        response = post(body)
        assert response.body == {"errors": [build_error_entry(response, "DOCUMENT_NOT_FOUND", 400, NOT_TRUSTED)]}


@pytest.mark.parametrize("name", ["apollo", "codegen", "relay"])
def test_manifest_of_a_tool_is_read(settings: Any, name: str) -> None:
    settings.ENVIRONMENT = use(contentapi_documents_manifest=str(MANIFESTS / f"{name}.json"))

    trusted = load_trusted_documents(SCHEMA, MANIFESTS / "none")

    assert trusted.texts
    assert all("query" in text for text in trusted.texts.values())


def test_documents_of_the_folder_have_the_names_of_their_files(tmp_path: Path) -> None:
    (tmp_path / "Ping.graphql").write_text(TEXT)

    assert load_trusted_documents(SCHEMA, tmp_path).texts == {"Ping": TEXT, HASH: TEXT}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "{path} is not a manifest of persisted documents: Input data was truncated."),
        ("[]", "{path} is not a manifest of persisted documents: Expected `object`, got `array`."),
        ('{"a": 1}', "{path} is not a manifest of persisted documents: Expected `str`, got `int` - at `$[...]`."),
        (
            '{"format": "apollo-persisted-query-manifest", "version": 2, "operations": []}',
            "{path} is not a manifest of persisted documents: Invalid enum value 2 - at `$.version`.",
        ),
        (
            '{"a": "{ nothing }"}',
            "The trusted document a is invalid: Cannot query field 'nothing' on type 'Query'. (line 1)",
        ),
        ('{"a": "{"}', "The trusted document a is invalid: Syntax Error: Expected Name, found <EOF>. (line 1)"),
        (
            '{"a": "{ __typename }", "a": "{ posts { id } }"}',
            "{path} is not a manifest of persisted documents: Object contains field `a` twice.",
        ),
        ('{"": "{ __typename }"}', "{path}: an id must have 1 to 200 characters."),
    ],
)  # fmt: skip
def test_unusable_manifest_is_reported(settings: Any, tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(content)
    settings.ENVIRONMENT = use(contentapi_documents_manifest=str(path))

    with pytest.raises(ManifestError) as raised:
        load_trusted_documents(SCHEMA, tmp_path)

    assert str(raised.value) == message.format(path=path)


def test_missing_manifest_is_reported(settings: Any, tmp_path: Path) -> None:
    settings.ENVIRONMENT = use(contentapi_documents_manifest=str(tmp_path / "none.json"))

    with pytest.raises(ManifestError, match=r"none\.json cannot be read: No such file or directory\."):
        load_trusted_documents(SCHEMA, tmp_path)


def test_two_documents_with_one_id_are_reported(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "Ping.graphql").write_text(TEXT)
    (tmp_path / "manifest.json").write_text('{"Ping": "{ posts { id } }"}')
    settings.ENVIRONMENT = use(contentapi_documents_manifest=str(tmp_path / "manifest.json"))

    with pytest.raises(ManifestError, match=r"two documents have the id Ping\."):
        load_trusted_documents(SCHEMA, tmp_path)


def test_required_documents_must_exist(settings: Any, tmp_path: Path) -> None:
    settings.ENVIRONMENT = use(contentapi_documents="trusted")

    with pytest.raises(ManifestError, match=r"^CONTENTAPI_DOCUMENTS is trusted, but there is no document in "):
        load_trusted_documents(SCHEMA, tmp_path)
