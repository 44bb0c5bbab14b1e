"""ariadne-codegen: a typed client, generated from the server's introspection."""

import asyncio
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

URL, KEY = os.environ["GRAPHQL_URL"], os.environ["API_KEY"]
SETTINGS = f"""
[tool.ariadne-codegen]
remote_schema_url = "{URL}"
queries_path = "queries.graphql"
target_package_name = "content"

[tool.ariadne-codegen.scalars.DateTime]
type = "datetime.datetime"
"""

sys.path[:0] = ["", ".."]
Path("pyproject.toml").write_text(SETTINGS)
subprocess.run(["ariadne-codegen"], check=True, stdout=sys.stderr)

from content import (  # noqa: E402 - generated above
    Client,
    CreatePostInput,
    GraphQLClientGraphQLMultiError,
    GraphQLClientHttpError,
    PostStatus,
)
from prove import prove  # noqa: E402


async def use() -> None:
    client = Client(url=URL, headers={"X-API-Key": KEY})

    with prove("generates a client from introspection and follows cursors with its types"):
        ids, after, more = [], None, True
        while more:
            page = (await client.page(after)).posts_connection
            ids += [edge.node.id for edge in page.edges]
            assert all(isinstance(edge.node.created_at, datetime) for edge in page.edges)
            after, more = page.page_info.end_cursor, page.page_info.has_next_page
        assert len(ids) >= 6
        assert len(set(ids)) == len(ids)

    with prove("creates and deletes a post"):
        post = (await client.create_post(CreatePostInput(title="By ariadne-codegen", body="Text"))).create_post
        assert post.status is PostStatus.draft
        assert (await client.delete_post(post.id)).delete_post == post.id

    with prove("gets both data and errors of a 294; a GraphQLClientHttpError has the response with the codes of a 4xx"):
        try:
            await client.partial()
        except GraphQLClientGraphQLMultiError as error:
            assert len(error.data["posts"]) == 1
            assert error.errors[0].extensions["code"] == "BAD_REQUEST"
        else:
            raise AssertionError("There was no error.")
        try:
            await client.create_post(CreatePostInput(title="", body="Text"))
        except GraphQLClientHttpError as error:
            assert error.status_code == 422
            assert error.response.json()["errors"][0]["extensions"]["code"] == "INVALID"
        else:
            raise AssertionError("There was no error.")


asyncio.run(use())
