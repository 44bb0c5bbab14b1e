"""How many images of a person may wait, whose come first, and how many bytes a person may store."""

import io
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from blog import services
from blog.models import IS_WAITING, Image, ImageUpload
from blog.services import image_room
from blog.services.image_processing import claim_image
from contentapi.core.errors import RateLimited, TooLarge
from contentapi.core.identity import OPERATOR, WORKER, Actor, Role
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import list_stored, make_ready_image
from tests.blog.test_image_uploads import announce
from tests.conftest import make_api_key
from tests.environment import set_environment
from tests.factories import get_user, make_actor, make_image
from tests.graphql_requests import post_to_graphql
from tests.image_files import make_jpeg, send_file

pytestmark = pytest.mark.usefixtures("media")
JPEG = make_jpeg()


def upload(actor: Actor) -> Image:
    return services.create_image(actor=actor, read_file=send_file(JPEG))


def list_claims() -> list[int | None]:
    owners = []
    while image := claim_image(IS_WAITING):
        owners.append(image.owner_id)
    return owners


def test_some_images_of_a_person_may_wait(author: Actor, media: FolderStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    assert image_room.MAX_WAITING == 20
    monkeypatch.setattr(image_room, "MAX_WAITING", 3)
    announced = announce(author)
    media.put(f"uploads/{announced.pk}", io.BytesIO(JPEG))
    images = [upload(author) for _ in range(3)]
    stored = list_stored()
    with pytest.raises(RateLimited, match="At most 3 images of a person may wait") as caught:
        upload(author)
    with pytest.raises(RateLimited):
        services.complete_upload(actor=author, upload_id=str(announced.pk))
    assert caught.value.headers == {"Retry-After": "5"}
    assert list_stored() == stored
    upload(make_actor(Role.AUTHOR))
    upload(author.through("import"))

    Image.objects.filter(pk__in=[image.pk for image in images[:2]]).update(source="")
    upload(author)


def test_person_with_the_fewest_images_comes_first() -> None:
    for owner in (1, 1, 1, 2, 3, 3):
        make_image(owner_id=owner, source="uploads/1")

    assert list_claims() == [2, 3, 3, 1, 1, 1]


def test_bytes_of_images_and_of_announced_uploads_have_a_limit(
    author: Actor, media: FolderStorage, settings: Settings
) -> None:
    set_environment(settings, CONTENTAPI_MEDIA=str(media.folder), CONTENTAPI_IMAGE_QUOTA=str(3 * len(JPEG)))
    before = len(list_stored())
    first = upload(author)
    announce(author)
    announce(author)
    for refused in (upload, announce):
        with pytest.raises(TooLarge, match=r"may store at most [\d,]+ bytes of images; "):
            refused(author)
    with pytest.raises(TooLarge):
        services.replace_image_file(actor=author, image_id=str(first.pk), read_file=send_file(JPEG))
    assert len(list_stored()) == before + 1
    upload(make_actor(Role.AUTHOR))
    upload(OPERATOR)

    ImageUpload.objects.update(created_at=timezone.now() - timedelta(days=2))
    services.purge_uploads(actor=WORKER)
    upload(author)


def test_files_of_ready_and_deleted_images_count(author: Actor, media: FolderStorage, settings: Settings) -> None:
    make_ready_image(owner_id=author.user_id, stored=1000)
    make_image(owner_id=author.user_id, deleted_at=timezone.now(), source="deleted/1", size=500)
    set_environment(settings, CONTENTAPI_MEDIA=str(media.folder), CONTENTAPI_IMAGE_QUOTA=str(1500 + len(JPEG)))
    upload(author)

    with pytest.raises(TooLarge, match=f"{1500 + len(JPEG):,} bytes are in use"):
        upload(author)


def test_viewer_and_the_page_of_uploads_show_the_bytes(author: Actor, client: Client) -> None:
    make_ready_image(owner_id=author.user_id, stored=2_048)
    key = make_api_key(author)
    client.force_login(get_user(author))

    answer = post_to_graphql({"query": "{ viewer { imageBytes imageQuota } }"}, X_API_Key=key)

    assert answer.data == {"viewer": {"imageBytes": 2048, "imageQuota": 10_000_000_000}}
    assert "Your images use 2.0\xa0KB of 9.3\xa0GB." in client.get("/admin/blog/image/add/").text
