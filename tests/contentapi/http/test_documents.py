"""Documents of the service: /openapi.json, /docs, the SDL and the public keys. test_reference.py tests /docs."""

import json

import pytest
from django.test import Client

from tests.openapi import DOCUMENT

DOCUMENTS = ["/openapi.json", "/docs", "/schema.graphql", "/.well-known/jwks.json"]


def test_openapi_document_is_served_as_json() -> None:
    response = Client().get("/openapi.json")

    assert response["Content-Type"] == "application/json"
    assert response.json() == DOCUMENT


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if path != "/docs"])  # each /docs has its own nonce
def test_document_with_a_matching_etag_is_304(path: str) -> None:
    etag = Client().get(path)["ETag"]

    again, other = (Client().get(path, headers={"If-None-Match": tag}) for tag in (etag, '"other"'))

    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    assert other.status_code == 200


@pytest.mark.parametrize("path", DOCUMENTS)
def test_documents_support_head_and_options(path: str) -> None:
    got, head, options = Client().get(path), Client().head(path), Client().options(path)

    assert (head.status_code, head.content, head["Content-Length"]) == (200, b"", str(len(got.content)))
    assert (options.status_code, options.content, options["Allow"]) == (204, b"", "GET, HEAD, OPTIONS")


@pytest.mark.parametrize("path", DOCUMENTS)
def test_other_method_on_a_document_is_405_in_both_formats(path: str) -> None:
    plain = Client().post(path)
    problem = Client().delete(path, headers={"Accept": "application/problem+json"})

    assert (plain.status_code, plain["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert plain.json() == {"error": "POST is not allowed here; allowed: GET, HEAD, OPTIONS."}
    assert (problem["Content-Type"], json.loads(problem.content)["status"]) == ("application/problem+json", 405)
