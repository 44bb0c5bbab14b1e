"""The posts of an image that has changed are found by the worker."""

from threading import Event

from django.db import connection
from django.test.utils import CaptureQueriesContext

from blog import services
from blog.models import Image, Post
from blog.services.renderings import outdate_posts
from contentapi.core.identity import OPERATOR
from tests.blog.stored_images import make_ready_image
from tests.factories import make_post


def test_text_of_an_image_writes_no_post_until_the_worker_does() -> None:
    image = make_ready_image(alt="Boat")
    posts = [make_post(body=f"![](image:{image.pk})") for _ in range(3)]
    services.render_posts(Event())

    services.edit_image(actor=OPERATOR, image_id=str(image.pk), changes={"caption": "Sea"})
    assert services.render_posts(Event()) == 0
    with CaptureQueriesContext(connection) as queries:
        services.edit_image(actor=OPERATOR, image_id=str(image.pk), changes={"alt": "Ship"})
    assert not [query for query in queries if 'UPDATE "blog_post"' in query["sql"]]
    assert services.render_posts(Event()) == len(posts)

    assert all('alt="Ship"' in str(post.body_html) for post in Post.objects.all())
    assert set(Post.objects.values_list("version", flat=True)) == {1}
    assert services.render_posts(Event()) == 0


def test_image_that_changes_while_its_posts_are_found_stays_outdated() -> None:
    image = make_ready_image(alt="Boat", posts_outdated=True)
    Image.objects.update(version=2)  # since the worker has read it

    outdate_posts(image)

    assert Image.objects.get().posts_outdated
