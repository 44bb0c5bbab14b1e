"""openapi-python-client: a package generated from /openapi.json."""

import base64
import io
import os
import re
import subprocess
import sys

API, KEY = os.environ["API_URL"], os.environ["API_KEY"]

sys.path[:0] = ["content", ".."]
generate = [
    "openapi-python-client",
    "generate",
    "--url",
    f"{API}/openapi.json",
    "--output-path",
    "content",
    "--overwrite",
]
done = subprocess.run(generate, check=False, capture_output=True, text=True)
assert done.returncode == 0, done.stdout + done.stderr
# It sends files in forms only, and says so of the other way to send the bytes of an image.
warnings = re.findall("WARNING parsing (.*) within", done.stdout + done.stderr)
assert warnings == ["POST /images", "PUT /images/{image_id}/content"], done.stdout + done.stderr

from content_api_client import AuthenticatedClient, Client  # noqa: E402 - generated above
from content_api_client.api.authors import list_authors  # noqa: E402
from content_api_client.api.images import delete_image, upload_image  # noqa: E402
from content_api_client.api.orders import list_orders  # noqa: E402
from content_api_client.api.posts import create_post, delete_post, list_posts, update_post  # noqa: E402
from content_api_client.models import NewPost, PostChanges, PostStatus, UploadImageFilesBody  # noqa: E402
from content_api_client.types import File  # noqa: E402
from prove import prove  # noqa: E402

DOT = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")

anonymous = Client(base_url=API)
client = AuthenticatedClient(base_url=API, token=KEY, prefix="", auth_header_name="X-API-Key")

with prove("follows next_cursor with types"):
    ids, cursor, more = [], None, True
    while more:
        page = list_posts.sync(client=anonymous, limit=3, **({"cursor": cursor} if cursor else {}))
        ids += [post.id for post in page.data]
        assert all(post.author.name and post.created_at.tzinfo for post in page.data)
        cursor, more = page.next_cursor, bool(page.next_cursor)
    assert len(ids) >= 6
    assert len(set(ids)) == len(ids)

with prove("reads a page by offset"):
    page = list_authors.sync(client=anonymous, offset=1, limit=1)
    assert (len(page.data), page.offset, page.limit) == (1, 1, 1)
    assert page.total > 1

with prove("creates, changes and deletes a post"):
    post = create_post.sync(client=client, body=NewPost(title="By openapi-python-client", body="Text"))
    assert post.status is PostStatus.DRAFT
    changed = update_post.sync(post.id, client=client, body=PostChanges(title="Changed"))
    assert changed.title == "Changed"
    assert delete_post.sync_detailed(post.id, client=client).status_code == 204

with prove("uploads an image in a form"):
    file = File(payload=io.BytesIO(DOT), file_name="dot.gif", mime_type="image/gif")
    image = upload_image.sync(client=client, body=UploadImageFilesBody(file=file))
    assert (image.name, image.content_type, image.size) == ("dot.gif", "image/gif", len(DOT))
    assert delete_image.sync_detailed(image.id, client=client).status_code == 204

with prove("reads orders with their links"):
    (order, *_) = list_orders.sync(client=client).data
    assert order.field_links.self_.href == f"/orders/{order.id}"

with prove("gets the body and the code of an error"):
    response = create_post.sync_detailed(client=client, body=NewPost(title="", body="Text"))
    assert (response.status_code, response.headers["X-Error-Code"]) == (422, "INVALID")
    assert response.parsed.error
