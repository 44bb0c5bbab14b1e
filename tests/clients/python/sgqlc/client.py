"""sgqlc: classes generated from the server's introspection, and its two endpoints."""

import os
import subprocess
import sys
from pathlib import Path

URL, KEY = os.environ["GRAPHQL_URL"], os.environ["API_KEY"]

sys.path[:0] = ["", ".."]
introspection = [sys.executable, "-m", "sgqlc.introspection", "--exclude-deprecated", URL, "schema.json"]
subprocess.run(introspection, check=True, stdout=sys.stderr)
subprocess.run(["sgqlc-codegen", "schema", "schema.json", "content_schema.py"], check=True, stdout=sys.stderr)
assert Path("content_schema.py").exists()

from content_schema import CreatePostInput, PostFilter, content_schema  # noqa: E402 - generated above
from prove import prove  # noqa: E402
from sgqlc.endpoint.http import HTTPEndpoint  # noqa: E402
from sgqlc.endpoint.requests import RequestsEndpoint  # noqa: E402
from sgqlc.operation import Operation  # noqa: E402


def build_page(after: str | None) -> Operation:
    operation = Operation(content_schema.query_type, name="Page")
    page = operation.posts_connection(first=3, after=after, filter=PostFilter(status="published"))
    page.edges.node.__fields__("id", "title", "created_at")
    page.edges.node.author.name()
    page.page_info.__fields__("has_next_page", "end_cursor")
    return operation


def create(title: str) -> Operation:
    operation = Operation(content_schema.mutation_type)
    operation.create_post(input=CreatePostInput(title=title, body="Text")).__fields__("id", "title", "status")
    return operation


for endpoint_class in (HTTPEndpoint, RequestsEndpoint):
    name = endpoint_class.__name__
    endpoint = endpoint_class(URL, {"X-API-Key": KEY})
    with prove(f"{name}: follows cursors by POST and by GET with generated classes"):
        for reader in (endpoint_class(URL), endpoint_class(URL, method="GET")):
            ids, after, more = [], None, True
            while more:
                operation = build_page(after)
                page = (operation + reader(operation)).posts_connection
                ids += [edge.node.id for edge in page.edges]
                after, more = page.page_info.end_cursor, page.page_info.has_next_page
            assert len(ids) >= 6
            assert len(set(ids)) == len(ids)

    with prove(f"{name}: creates and deletes a post"):
        operation = create("By sgqlc")
        post = (operation + endpoint(operation)).create_post
        assert (post.title, post.status) == ("By sgqlc", "draft")
        operation = Operation(content_schema.mutation_type)
        operation.delete_post(id=post.id)
        assert (operation + endpoint(operation)).delete_post == post.id

    with prove(f"{name}: gets the codes of errors with status 401 and 422, and both data and errors of a 294"):
        for sender, status, code in ((endpoint_class(URL), 401, "UNAUTHENTICATED"), (endpoint, 422, "INVALID")):
            result = sender(create(""))
            assert result["errors"][0]["extensions"]["code"] == code, result
            assert result["errors"][0]["extensions"]["status"] == status
        partial = endpoint("{ posts(limit: 1) { id } author(id: 1) { posts(limit: 0) { id } } }")
        assert len(partial["data"]["posts"]) == 1
        assert partial["errors"][0]["extensions"]["code"] == "BAD_REQUEST"
