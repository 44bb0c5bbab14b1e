"""openapi-generator: its Python client, generated from /openapi.json."""

import os
import subprocess
import sys

API, KEY = os.environ["API_URL"], os.environ["API_KEY"]

sys.path[:0] = ["generated", ".."]
generate = ["openapi-generator-cli", "generate", "--input-spec", f"{API}/openapi.json", "--generator-name", "python"]
options = ["--output", "generated", "--package-name", "content_api"]
# The compiler for longer programs would take half of the processor time.
os.environ["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1"
done = subprocess.run([*generate, *options], check=False, capture_output=True, text=True)
assert done.returncode == 0, done.stdout + done.stderr

from content_api import ApiClient, Configuration, NewPost, PostChanges, PostStatus  # noqa: E402 - generated above
from content_api.api import AuthorsApi, OrdersApi, PostsApi  # noqa: E402
from content_api.exceptions import ApiException, UnprocessableEntityException  # noqa: E402
from prove import prove  # noqa: E402

anonymous = ApiClient(Configuration(host=API))
client = ApiClient(Configuration(host=API, api_key={"apiKey": KEY}))

with prove("follows next_cursor with types"):
    ids, cursor, more = [], None, True
    while more:
        page = PostsApi(anonymous).list_posts(limit=3, cursor=cursor)
        ids += [post.id for post in page.data]
        assert all(post.author.name and post.created_at.tzinfo for post in page.data)
        cursor, more = page.next_cursor, bool(page.next_cursor)
    assert len(ids) >= 6
    assert len(set(ids)) == len(ids)

with prove("reads a page by offset"):
    page = AuthorsApi(anonymous).list_authors(offset=1, limit=1)
    assert (len(page.data), page.offset, page.limit) == (1, 1, 1)
    assert page.total > 1

with prove("creates, changes and deletes a post"):
    posts = PostsApi(client)
    post = posts.create_post(NewPost(title="By openapi-generator", body="Text"))
    assert post.status is PostStatus.DRAFT
    assert posts.update_post(post.id, PostChanges(title="Changed")).title == "Changed"
    assert posts.delete_post_with_http_info(post.id).status_code == 204

with prove("reads orders with their links"):
    (order, *_) = OrdersApi(client).list_orders().data
    assert order.links.var_self.href == f"/orders/{order.id}"

with prove("gets the body and the code of an error"):
    try:
        PostsApi(client).create_post(NewPost(title=" ", body="Text"))
    except UnprocessableEntityException as error:
        assert isinstance(error, ApiException)
        assert error.headers["X-Error-Code"] == "INVALID"
        assert error.data.error
    else:
        raise AssertionError("There was no error.")
