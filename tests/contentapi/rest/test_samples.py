"""Samples of requests, from a document with one operation of each kind."""

from typing import Any

from contentapi.rest.samples import build_samples

DOCUMENT: dict[str, Any] = {
    "paths": {
        "/notes": {
            "get": {
                "operationId": "list",
                "parameters": [
                    {"name": "limit", "in": "query", "example": 2},
                    {"name": "X-Version", "in": "header", "example": 1},
                    {"name": "tag", "in": "query"},
                ],
                "security": [{}, {"apiKey": []}],
                "responses": {"200": {"content": {"application/json": {}}}},
            },
            "post": {
                "operationId": "create",
                "security": [{"apiKey": []}],
                "requestBody": {
                    "content": {
                        "application/json": {
                            "examples": {
                                "first": {"$ref": "#/components/examples/first"},
                                "second": {"value": {"title": "unused"}},
                            }
                        }
                    }
                },
                "responses": {"201": {"$ref": "#/components/responses/created"}},
            },
        },
        "/notes/{id}": {
            "parameters": [{"$ref": "#/components/parameters/id"}],
            "delete": {"operationId": "remove", "security": [{"apiKey": []}], "responses": {"204": {}}},
        },
        "/text": {
            "get": {"operationId": "text", "responses": {"200": {"content": {"text/plain": {}}}}},
        },
    },
    "components": {
        "examples": {"first": {"value": {"title": 'It\'s "new"', "tags": ["a"], "hidden": False, "at": None}}},
        "parameters": {"id": {"name": "id", "in": "path", "example": "8"}},
        "responses": {"created": {"content": {"application/json": {}}}},
    },
}
SAMPLES = {
    name: {sample["label"]: sample["source"] for sample in samples}
    for name, samples in build_samples(DOCUMENT, "https://api.example.com").items()
}


def test_reads_have_the_query_parameters_that_have_an_example() -> None:
    assert SAMPLES["list"] == {
        "curl": "curl 'https://api.example.com/notes?limit=2'",
        "JavaScript": (
            'const response = await fetch("https://api.example.com/notes?limit=2");\n'
            "if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);\n"
            "console.log(await response.json());"
        ),
        "TypeScript": (
            "// npx openapi-typescript https://api.example.com/openapi.json --output schema.d.ts\n"
            'import createClient from "openapi-fetch";\n'
            'import type { paths } from "./schema";\n'
            "\n"
            "const client = createClient<paths>({\n"
            '  baseUrl: "https://api.example.com",\n'
            "});\n"
            'const { data, error, response } = await client.GET("/notes", {\n'
            '  params: {\n    "query": {\n      "limit": 2\n    }\n  },\n'
            "});\n"
            "if (error) throw new Error(`${response.status}: ${JSON.stringify(error)}`);\n"
            "console.log(data);"
        ),
        "Python": (
            "import requests\n"
            "\n"
            "response = requests.get(\n"
            '    "https://api.example.com/notes",\n'
            '    params={\n        "limit": 2,\n    },\n'
            "    timeout=10,\n"
            ")\n"
            "response.raise_for_status()\n"
            "print(response.json())"
        ),
    }


def test_body_is_the_first_example_and_is_quoted_in_each_language() -> None:
    samples = SAMPLES["create"]

    assert samples["curl"] == (
        "curl --request POST https://api.example.com/notes \\\n"
        "  --header 'X-API-Key: YOUR_API_KEY' \\\n"
        "  --header 'Content-Type: application/json' \\\n"
        "  --data '{\n"
        '  "title": "It\'"\'"\'s \\"new\\"",\n'
        '  "tags": [\n    "a"\n  ],\n  "hidden": false,\n  "at": null\n'
        "}'"
    )
    assert '"title": "It\'s \\"new\\"",' in samples["JavaScript"]
    assert 'method: "POST",' in samples["JavaScript"]
    assert '"X-API-Key": "YOUR_API_KEY"' in samples["TypeScript"]
    assert (
        '    json={\n        "title": "It\'s \\"new\\"",\n        "tags": [\n            "a",\n        ],\n'
        '        "hidden": False,\n        "at": None,\n    },\n'
    ) in samples["Python"]


def test_path_parameters_are_filled_in_and_an_empty_response_shows_its_status() -> None:
    samples = SAMPLES["remove"]

    assert samples["curl"].startswith("curl --request DELETE https://api.example.com/notes/8 \\\n")
    assert samples["JavaScript"].endswith("console.log(response.status);")
    assert 'client.DELETE("/notes/{id}", {' in samples["TypeScript"]
    assert samples["Python"].endswith("print(response.status_code)")


def test_text_is_read_as_text() -> None:
    samples = SAMPLES["text"]

    assert samples["JavaScript"].endswith("console.log(await response.text());")
    assert 'parseAs: "text",' in samples["TypeScript"]
    assert samples["Python"].endswith("print(response.text)")
