"""Samples of requests for each operation of an OpenAPI document: curl, JavaScript, TypeScript and Python.

The samples use what a developer of each language has at hand: fetch, openapi-fetch with the types of
openapi-typescript, and requests. tests/contentapi/rest/test_samples.py executes them.
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from textwrap import indent
from typing import Any, NamedTuple
from urllib.parse import urlencode

JSON = "application/json"
METHODS = ("get", "post", "put", "patch", "delete")
CREDENTIAL = {"X-API-Key": "YOUR_API_KEY"}


class SampleRequest(NamedTuple):
    """A request that an operation accepts. `returns` is "json", "text", or "" for a response without a body."""

    origin: str
    method: str
    template: str
    path: dict[str, Any]
    query: dict[str, Any]
    headers: dict[str, str]
    body: Any
    returns: str

    @property
    def url(self) -> str:
        path = self.template
        for name, value in self.path.items():
            path = path.replace(f"{{{name}}}", str(value))
        return f"{self.origin}{path}{'?' if self.query else ''}{urlencode(self.query)}"


def build_samples(document: Mapping[str, Any], origin: str) -> dict[str, list[dict[str, str]]]:
    """Return the samples of each operation by its `operationId`, as the extension `x-codeSamples` has them.

    `origin` is the address of the server, for example `https://api.example.com`.
    """
    return {
        operation["operationId"]: [
            {"lang": lang, "label": label, "source": write(request)} for lang, label, write in LANGUAGES
        ]
        for operation, request in iterate_requests(document, origin)
    }


def iterate_requests(document: Mapping[str, Any], origin: str) -> Iterator[tuple[dict[str, Any], SampleRequest]]:
    for template, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                operation = item[method]
                parameters = [*item.get("parameters", []), *operation.get("parameters", [])]
                resolved = [resolve(document, parameter) for parameter in parameters]
                yield operation, build_request(document, origin, template, method, operation, resolved)


def build_request(
    document: Mapping[str, Any],
    origin: str,
    template: str,
    method: str,
    operation: dict[str, Any],
    parameters: list[dict[str, Any]],
) -> SampleRequest:
    examples = {
        place: {each["name"]: each["example"] for each in parameters if each["in"] == place and "example" in each}
        for place in ("path", "query")
    }
    content = resolve(document, operation.get("requestBody", {})).get("content", {}).get(JSON, {})
    body = next((resolve(document, each)["value"] for each in content.get("examples", {}).values()), None)
    return SampleRequest(
        origin=origin,
        method=method.upper(),
        template=template,
        path=examples["path"],
        query=examples["query"],
        headers={} if {} in operation.get("security", [{}]) else CREDENTIAL,
        body=body,
        returns=find_kind_of_response(document, operation),
    )


def find_kind_of_response(document: Mapping[str, Any], operation: Mapping[str, Any]) -> str:
    success: dict[str, Any] = next(
        (each for status, each in operation["responses"].items() if str(status).startswith("2")), {}
    )
    types = list(resolve(document, success).get("content", {}))
    if not types:
        return ""
    return "json" if any("json" in media_type for media_type in types) else "text"


def resolve(document: Mapping[str, Any], node: Any) -> Any:
    """Follow the `$ref` of a node to its target in the document."""
    while "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def write_curl(request: SampleRequest) -> str:
    lines = [f"curl {shlex.quote(request.url)}"]
    if request.method != "GET":
        lines[0] = f"curl --request {request.method} {shlex.quote(request.url)}"
    headers = request.headers if request.body is None else {**request.headers, "Content-Type": JSON}
    lines += [f"--header {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()]
    if request.body is not None:
        lines.append(f"--data {shlex.quote(format_json(request.body))}")
    return " \\\n  ".join(lines)


def write_javascript(request: SampleRequest) -> str:
    headers = request.headers if request.body is None else {**request.headers, "Content-Type": JSON}
    options = [f'method: "{request.method}",'] if request.method != "GET" else []
    if headers:
        options.append(f"headers: {format_json(headers)},")
    if request.body is not None:
        options.append(f"body: JSON.stringify({format_json(request.body)}),")
    settings = f", {{\n{indent(chr(10).join(options), '  ')}\n}}" if options else ""
    return "\n".join(
        [
            f'const response = await fetch("{request.url}"{settings});',
            "if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);",
            f"console.log({f'await response.{request.returns}()' if request.returns else 'response.status'});",
        ]
    )


def write_typescript(request: SampleRequest) -> str:
    client = [f'baseUrl: "{request.origin}",']
    if request.headers:
        client.append(f"headers: {format_json(request.headers)},")
    given = {name: values for name, values in (("path", request.path), ("query", request.query)) if values}
    options = [f"params: {format_json(given)},"] if given else []
    if request.body is not None:
        options.append(f"body: {format_json(request.body)},")
    if request.returns == "text":
        options.append('parseAs: "text",')
    settings = f", {{\n{indent(chr(10).join(options), '  ')}\n}}" if options else ""
    return "\n".join(
        [
            f"// npx openapi-typescript {request.origin}/openapi.json --output schema.d.ts",
            'import createClient from "openapi-fetch";',
            'import type { paths } from "./schema";',
            "",
            f"const client = createClient<paths>({{\n{indent(chr(10).join(client), '  ')}\n}});",
            f'const {{ data, error, response }} = await client.{request.method}("{request.template}"{settings});',
            "if (error) throw new Error(`${response.status}: ${JSON.stringify(error)}`);",
            f"console.log({'data' if request.returns else 'response.status'});",
        ]
    )


def write_python(request: SampleRequest) -> str:
    address = request._replace(query={}).url
    arguments = [f'"{address}",']
    for name, value in (("params", request.query), ("headers", request.headers)):
        if value:
            arguments.append(f"{name}={format_python(value)},")
    if request.body is not None:
        arguments.append(f"json={format_python(request.body)},")
    arguments.append("timeout=10,")
    shown = {"json": "response.json()", "text": "response.text"}.get(request.returns, "response.status_code")
    return "\n".join(
        [
            "import requests",
            "",
            f"response = requests.{request.method.lower()}(\n{indent(chr(10).join(arguments), '    ')}\n)",
            "response.raise_for_status()",
            f"print({shown})",
        ]
    )


def format_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2 if value else None)


def format_python(value: Any) -> str:
    """Return a value of JSON as Python, with double quotes. Objects and arrays have one line for each member."""
    if isinstance(value, dict) and value:
        members = "".join(f"    {format_python(name)}: {indent_rest(item)},\n" for name, item in value.items())
        return f"{{\n{members}}}"
    if isinstance(value, list) and value:
        return "[\n" + "".join(f"    {indent_rest(item)},\n" for item in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def indent_rest(value: Any) -> str:
    return format_python(value).replace("\n", "\n    ")


LANGUAGES = (
    ("shell", "curl", write_curl),
    ("javascript", "JavaScript", write_javascript),
    ("typescript", "TypeScript", write_typescript),
    ("python", "Python", write_python),
)
