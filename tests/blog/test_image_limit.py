"""The number of images in a text."""

import pytest

from blog import services
from blog.models import Post, WorkingCopy
from blog.rendering import count_images
from blog.rendering.limits import MAX_IMAGES
from contentapi.core.errors import Invalid
from contentapi.core.identity import OPERATOR
from tests.factories import make_author, make_post

TOO_MANY = rf"At most {MAX_IMAGES} images are allowed \(got {MAX_IMAGES + 1}\)"


def write_images(number: int, form: str = "![](image:{})\n") -> str:
    return "".join(map(form.format, range(1, number + 1)))


@pytest.mark.parametrize(
    "form",
    [
        "![a](image:{})\n",
        "![a](IMAGE:{})\n",
        "![a](image&colon;{})\n",
        "![a](image\\:{})\n",
        "<img src='image:{}'>",
        "![{0}]\n\n[{0}]: image:{0}\n\n",
    ],
)
def test_images_are_counted_in_every_form(form: str) -> None:
    assert count_images(write_images(MAX_IMAGES + 1, form)) == MAX_IMAGES + 1
    assert count_images(write_images(1500)) == 1500


@pytest.mark.parametrize("text", ["![](image:1)\n" * 200, f"```\n{write_images(200)}```", "image:1 " * 200])
def test_each_image_counts_once_and_what_is_none_does_not(text: str) -> None:
    assert count_images(text) <= 1


def test_text_with_too_many_images_is_refused_with_their_number() -> None:
    author = make_author()

    with pytest.raises(Invalid, match=TOO_MANY):
        services.create_post(actor=OPERATOR, author_id=str(author.pk), title="A", body=write_images(MAX_IMAGES + 1))
    post = services.create_post(actor=OPERATOR, author_id=str(author.pk), title="A", body=write_images(MAX_IMAGES))
    with pytest.raises(Invalid, match=TOO_MANY):
        services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"body": write_images(MAX_IMAGES + 1)})
    with pytest.raises(Invalid, match=TOO_MANY):
        services.save_working_copy(actor=OPERATOR, post_id=str(post.pk), body=write_images(MAX_IMAGES + 1))


def test_text_that_has_more_images_keeps_them_and_gets_no_more() -> None:
    post = make_post(body=write_images(MAX_IMAGES + 20))

    def edit(**changes: str) -> None:
        services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)

    edit(title="Another")
    edit(body=f"Text.\n\n{write_images(MAX_IMAGES + 20)}")
    edit(body=write_images(MAX_IMAGES + 10))
    with pytest.raises(Invalid, match=f"got {MAX_IMAGES + 11}"):
        edit(body=write_images(MAX_IMAGES + 11))
    services.save_working_copy(actor=OPERATOR, post_id=str(post.pk), body=write_images(MAX_IMAGES + 9))
    WorkingCopy.objects.update(content=WorkingCopy.objects.get().content | {"body": write_images(MAX_IMAGES + 15)})
    services.publish_working_copy(actor=OPERATOR, post_id=str(post.pk))

    assert count_images(Post.objects.get(pk=post.pk).body) == MAX_IMAGES + 15
