"""The images that a preview token shows: those of the text of its link, and no others."""

from typing import Any

import pytest

from blog import services
from blog.models import Image, Post
from contentapi.core.identity import OPERATOR
from tests.blog.preview_requests import get, make_link, query
from tests.blog.stored_images import make_ready_image
from tests.factories import make_post

SHOWN = "query ($id: ID!) { post(id: $id) { bodyHtml cover { image { id } } images { image { id } } } }"
ONE = "query ($id: ID!) { image(id: $id) { id } }"


@pytest.fixture
def images() -> list[Image]:
    return [make_ready_image(alt=f"{number}") for number in range(6)]


@pytest.fixture
def post(images: list[Image]) -> Post:
    """A draft whose version, present text and working copy have an image and a cover each."""
    post = make_post(status="draft", body=f"![](image:{images[0].pk})", cover_id=images[1].pk)
    present: dict[str, Any] = {"body": f"![](image:{images[2].pk})", "cover_id": str(images[3].pk)}
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=present)
    copy: dict[str, Any] = {"body": f"![](image:{images[4].pk})", "cover_id": str(images[5].pk)}
    services.save_working_copy(actor=OPERATOR, post_id=str(post.pk), **copy)
    return post


@pytest.mark.parametrize(
    ("link", "first"),
    [
        ({"mode": "version", "version": "1"}, 0),
        ({"mode": "version", "version": "2"}, 2),
        ({"mode": "latest"}, 4),
        ({"mode": "site"}, 4),
    ],
)
def test_token_shows_the_images_of_its_text(post: Post, images: list[Image], link: dict[str, Any], first: int) -> None:
    token = make_link(post, **link).token
    of_text, cover = images[first], images[first + 1]

    shown = query(token, SHOWN, id=str(post.pk)).data["post"]

    assert f"/{of_text.pk}-" in shown["bodyHtml"]
    assert shown["images"] == [{"image": {"id": str(of_text.pk)}}]
    assert shown["cover"] == {"image": {"id": str(cover.pk)}}
    for image in (of_text, cover):
        assert query(token, ONE, id=str(image.pk)).data["image"] == {"id": str(image.pk)}
        assert get(token, f"/images/{image.pk}").status_code == 200


def test_token_for_a_version_shows_no_image_of_another_text(post: Post, images: list[Image]) -> None:
    token = make_link(post, mode="version", version="1").token

    assert [query(token, ONE, id=str(image.pk)).data["image"] for image in images[2:]] == [None] * 4
    assert [get(token, f"/images/{image.pk}").status_code for image in images[2:]] == [404] * 4


def test_token_hides_no_image_that_everybody_may_see(images: list[Image]) -> None:
    post = make_post(status="published", body=f"![](image:{images[0].pk})")
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"body": f"![](image:{images[1].pk})"})
    token = make_link(post, mode="version", version="1").token

    assert [get(token, f"/images/{image.pk}").status_code for image in images[:3]] == [200, 200, 404]
