"""Images in the desk: the library, its filters and orders, the page of an image, deletion and restoring."""

from typing import Any

from django.test import Client
from django.urls import reverse

from blog import services
from blog.models import Image, Post
from contentapi.core.identity import OPERATOR, Role
from tests.admin_forms import submit_form
from tests.blog.stored_images import make_ready_image
from tests.factories import make_actor, make_image, make_post, make_user, make_working_copy

LIST = reverse("admin:blog_image_changelist")


def get_address(image: Image, page: str = "change", *more: str) -> str:
    return reverse(f"admin:blog_image_{page}", args=[image.pk, *more])


def list_images(client: Client, **parameters: str) -> list[int]:
    return [image.pk for image in client.get(LIST, parameters).context["cl"].result_list]


def write_post(image: Image, **values: Any) -> Post:
    """Create a post whose text has an image."""
    return services.create_post(
        actor=make_actor(Role.EDITOR), title="The boat", body=f"![A boat](image:{image.pk})", **values
    )


def test_library_shows_images_with_their_names_and_texts(editor_client: Client) -> None:
    image = make_ready_image(name="boat.jpg", alt="A boat", size=2_000_000)
    make_image(name="new.jpg", alt="")

    text = editor_client.get(LIST).text

    assert f'src="/media/{image.pk}-{image.key}/320.webp" width="700" height="350" loading="lazy" alt=""' in text
    assert '<span class="image-name">boat.jpg</span>' in text
    assert "700 by 350 pixels, 2.0 MB" in text
    assert "Being processed" in text
    assert "No text" in text


def test_tabs_show_images_by_their_use(editor_client: Client) -> None:
    covered, written, prepared, mentioned, unused, bare = (make_ready_image() for _ in range(6))
    Image.objects.filter(pk=bare.pk).update(alt="")
    make_post(cover_id=covered.pk)
    write_post(written)
    make_working_copy(make_post(), body=f"![](image:{mentioned.pk})")
    make_working_copy(make_post(), cover_id=prepared.pk)
    services.delete_image(actor=OPERATOR, image_id=str(make_ready_image().pk))
    deleted = Image.objects.latest("pk")

    images = editor_client.get(LIST).context["cl"]

    assert [label for label, _, is_chosen in images.tabs if is_chosen] == ["All"]
    assert deleted not in images.result_list
    assert list_images(editor_client, show="unused") == [bare.pk, unused.pk]
    assert list_images(editor_client, show="without-text") == [bare.pk]
    assert list_images(editor_client, show="deleted") == [deleted.pk]


def test_library_is_sorted_by_date_and_size_and_keeps_the_filter(editor_client: Client) -> None:
    large, small = make_image(alt="", size=2000), make_image(alt="", size=1000)
    images = editor_client.get(LIST, {"show": "without-text"}).context["cl"]
    addresses = {label: address for label, address, _ in images.orders}

    found = [
        list(editor_client.get(LIST + addresses[label]).context["cl"].result_list)
        for label in ("Oldest", "Largest", "Smallest")
    ]

    assert [*addresses] == ["Newest", "Oldest", "Largest", "Smallest"]
    assert all("show=without-text" in address for address in addresses.values())
    assert list(images.result_list) == [small, large]
    assert found == [[large, small], [large, small], [small, large]]


def test_search_finds_each_word_in_name_and_texts(editor_client: Client) -> None:
    image = make_image(name="boat.jpg", alt="In the harbour", caption="At dawn", credit="Ines")
    make_image(name="boat.png")

    assert [list_images(editor_client, q=words) for words in ("BOAT harbour", "dawn ines", "boat night")] == [
        [image.pk],
        [image.pk],
        [],
    ]


def test_form_saves_texts_and_focal_point_while_the_worker_processes(editor_client: Client) -> None:
    image = make_ready_image()
    values = editor_client.get(get_address(image)).context["adminform"].form.initial
    Image.objects.filter(pk=image.pk).update(version=7)

    saved = submit_form(
        editor_client, get_address(image), alt=" A boat ", caption="", focal_x="0.25", focal_y=str(values["focal_y"])
    )

    assert saved.status_code == 302
    found = Image.objects.get(pk=image.pk)
    assert (found.alt, found.caption, found.focal_x, found.focal_y, found.version) == ("A boat", "", 0.25, 0.5, 8)


def test_page_of_an_image_names_the_posts_that_use_it(client: Client) -> None:
    author = make_user(Role.AUTHOR)
    image = make_ready_image(owner_id=author.pk)
    post = write_post(image, status="published")
    write_post(image, status="draft")
    client.force_login(author)

    text = client.get(get_address(image)).text

    assert reverse("admin:blog_post_change", args=[post.pk]) in text
    assert "1 other post that you may not see" in text


def test_page_says_why_a_file_was_rejected(editor_client: Client) -> None:
    image = make_image(status="rejected", source="", rejection="The image has too many pixels.")

    text = editor_client.get(get_address(image)).text

    assert "The image has too many pixels." in text
    assert "data-waiting" not in text
    assert "focal-stage" not in text


def test_used_image_is_deleted_only_if_the_person_insists(editor_client: Client) -> None:
    image = make_ready_image()
    write_post(image)
    address = get_address(image, "action", "delete")

    asked = editor_client.get(address)
    refused = editor_client.post(address, follow=True)
    kept = Image.objects.get(pk=image.pk).deleted_at
    deleted = editor_client.post(address, {"force": "on"}, follow=True)

    assert "Also if posts use it" in asked.text
    assert "The image is used by “The boat”" in refused.text
    assert kept is None
    assert Image.objects.get(pk=image.pk).deleted_at is not None
    assert "was deleted." in deleted.text


def test_deleted_image_is_restored_from_its_page(editor_client: Client) -> None:
    image = make_ready_image()
    services.delete_image(actor=OPERATOR, image_id=str(image.pk))

    page = editor_client.get(get_address(image))
    changed = editor_client.post(get_address(image), {"alt": "New"})
    restored = editor_client.post(get_address(image, "action", "restore"), follow=True)

    assert [action.name for action in page.context["desk_actions"]] == ["restore"]
    assert changed.status_code == 403
    assert "was restored." in restored.text
    assert list_images(editor_client) == [image.pk]
