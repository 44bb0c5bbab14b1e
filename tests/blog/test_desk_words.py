"""The desk speaks of images by name, of applications that people have connected, and of rules without API fields."""

from django.test import Client
from django.urls import reverse

from blog import services
from contentapi.core.identity import OPERATOR, Role
from tests.blog.stored_images import make_ready_image
from tests.factories import make_post, make_user


def test_history_names_the_cover(editor_client: Client) -> None:
    old, new = make_ready_image(name="quay.jpg"), make_ready_image(name="mole.jpg")
    post = make_post(cover_id=old.pk)
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"cover_id": str(new.pk)})
    old.delete()

    page = editor_client.get(reverse("admin:blog_post_version", args=[post.pk, 2])).text

    assert "<del>deleted image</del>" in page
    assert "<ins>mole.jpg</ins>" in page


def test_pages_of_connected_applications_speak_of_no_tokens(client: Client) -> None:
    client.force_login(make_user(Role.ADMIN))

    page = client.get(reverse("admin:oauth2_provider_refreshtoken_changelist")).text

    assert "Connected applications" in page
    assert not [word for word in ("onsents", "efresh token") if word in page]
