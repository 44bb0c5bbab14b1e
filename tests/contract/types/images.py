"""Images."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

import blog.selectors
import blog.services
from tests.contract.admin_browser import browse, name_outcome, press_button
from tests.contract.admin_requests import (
    ALL,
    EDITORS_MAY,
    EDITORS_SEE,
    NOBODY,
    Page,
    act_on,
    get_page,
    perform_in_list,
    post_object,
)
from tests.contract.input_documents import input_document
from tests.contract.openapi_requests import image_request, plain_request
from tests.contract.permissions import (
    AUTHORS,
    EDITORS_ONLY,
    OTHERS,
    OWN,
    REPLACE_FILE,
    UPLOAD,
    WRITE,
    Outcome,
    Row,
    allow,
)
from tests.contract.routine import Routine
from tests.contract.worlds import World, contains_row
from tests.image_files import make_png, send_file

ANNOUNCED: dict[str, Any] = {"name": "a.png", "content_type": "image/png", "size": 8, "sha_256": "0" * 64}
PNG = make_png(8, 8)
IMAGE = Routine("image", "images", changes={"alt": "New"}, actions=("list", "change", "delete"))


def replace_file(world: World) -> object:
    return blog.services.replace_image_file(
        actor=world.actor, image_id=str(world.target.image.pk), read_file=send_file(make_png(8, 8))
    )


def cover_document(world: World) -> tuple[str, dict[str, Any], None]:
    values = {"id": world.post_id("published"), "coverId": str(world.target.image.pk)}
    return input_document("updatePost", "id", **values)


def upload_document(_: World) -> tuple[str, dict[str, Any], None]:
    return input_document("createUpload", "id", name="a.png", contentType="image/png", size=8, sha256="0" * 64)


def cover_request(world: World) -> tuple[str, str, dict[str, Any], None]:
    return "PATCH", f"/posts/{world.post_id('published')}", {"coverId": str(world.target.image.pk)}, None


def send_image(world: World, page: str, *row_id: int) -> Outcome:
    file = SimpleUploadedFile("a.png", make_png(8, 8))
    response = browse(world).post(reverse(f"admin:blog_image_{page}", args=row_id), {"file": file})
    return name_outcome(response, done=response.status_code == 302)


TABLE = {
    "list all images": [
        Row("list images", OTHERS, allow(AUTHORS, anonymous=401, reader=403), UPLOAD),
        Row("list images", OWN, allow(AUTHORS, reader=403), UPLOAD),
    ],
    "upload and change images (use: everybody who writes posts)": [
        Row("upload an image", OWN, allow(AUTHORS, anonymous=401, reader=403), UPLOAD),
        Row("change an image", OWN, allow(AUTHORS, reader=403), UPLOAD),
        Row("change an image", OTHERS, EDITORS_ONLY, UPLOAD),
        Row(REPLACE_FILE, OWN, allow(AUTHORS, reader=403), UPLOAD),
        Row(REPLACE_FILE, OTHERS, EDITORS_ONLY, UPLOAD),
        Row("delete an image", OWN, allow(AUTHORS, reader=403), UPLOAD),
        Row("delete an image", OTHERS, EDITORS_ONLY, UPLOAD),
        Row("use an image as a cover", OTHERS, EDITORS_ONLY, WRITE),
        Row("use an image as a cover", OWN, allow(AUTHORS, reader=403), WRITE),
    ],
}
SERVICES = {
    "list images": lambda world: contains_row(
        blog.selectors.images.select_images(world.actor).queryset(), world.target.image
    ),
    "upload an image": lambda world: blog.services.create_upload(actor=world.actor, **ANNOUNCED),
    "change an image": lambda world: blog.services.edit_image(
        actor=world.actor, image_id=str(world.target.image.pk), changes={"alt": "New"}
    ),
    REPLACE_FILE: replace_file,
    "delete an image": lambda world: blog.services.delete_image(actor=world.actor, image_id=str(world.target.image.pk)),
    "use an image as a cover": lambda world: blog.services.edit_post(
        actor=world.actor, post_id=world.post_id("published"), changes={"cover_id": str(world.target.image.pk)}
    ),
}
GRAPHQL = {**IMAGE.ask_graphql(), "upload an image": upload_document, "use an image as a cover": cover_document}
REST = {
    **IMAGE.ask_rest(),
    "upload an image": lambda _: ("POST", "/images", PNG, None),
    REPLACE_FILE: lambda world: ("PUT", f"/images/{world.target.image.pk}/content", PNG, None),
    "use an image as a cover": cover_request,
}
ADMIN = {
    **IMAGE.browse("blog"),
    "upload an image": lambda world: send_image(world, "add"),
    REPLACE_FILE: lambda world: send_image(world, "replace", world.target.image.pk),
    "delete an image": lambda world: press_button(world, "blog_image", world.target.image.pk, "delete"),
}
PAGES = [
    *[Page(f"blog_image_{name}", OWN, ALL, get_page) for name in ("changelist", "add", "choose", "describe")],
    *[Page(f"blog_image_{name}", whose, ALL) for whose in (OWN, OTHERS) for name in ("change", "history")],
    *[Page("blog_image_delete", whose, NOBODY) for whose in (OWN, OTHERS)],  # an action of `blog_image_action` deletes
    *[
        Page(f"blog_image_{name}", whose, outcomes, send)
        for whose, outcomes in ((OWN, ALL), (OTHERS, EDITORS_MAY))
        for name, send in (
            ("action", act_on("delete")),
            ("alt", post_object({"alt": "New"})),
            ("replace", post_object({})),
        )
    ],
    Page("blog_image_bulk", OWN, ALL, perform_in_list("delete")),
    Page("blog_image_bulk", OTHERS, EDITORS_SEE, perform_in_list("delete")),
]
SUCCESSES = {
    **IMAGE.succeed(),
    "uploadImage": [(201, plain_request(body=make_png(8, 8), headers={"Content-Type": "image/png"}))],
    "getImage": [(200, image_request()), (200, image_request(who="author"))],
    "updateImage": [(200, image_request(body={"alt": "New", "focalPoint": {"x": 0.5, "y": 0}}))],
    "replaceImageContent": [(200, image_request(body=make_png(8, 8), headers={"Content-Type": "image/png"}))],
    "deleteImage": [(204, image_request()), (204, image_request(query="?force=true"))],
}
