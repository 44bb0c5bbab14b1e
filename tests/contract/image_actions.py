"""The actions on images of the permission table, as requests of each transport."""

from collections.abc import Callable
from typing import Any

from tests.contract.input_documents import input_document
from tests.contract.permissions import REPLACE_FILE
from tests.contract.worlds import World
from tests.image_files import make_png

Body = dict[str, Any] | bytes | None


def image_document(world: World, mutation: str, selection: str, **values: Any) -> tuple[str, dict[str, Any], None]:
    return input_document(mutation, selection, id=str(world.target.image.pk), **values)


def cover_document(world: World) -> tuple[str, dict[str, Any], None]:
    values = {"id": world.post_id("published"), "coverId": str(world.target.image.pk)}
    return input_document("updatePost", "id", **values)


def upload_document(_: World) -> tuple[str, dict[str, Any], None]:
    return input_document("createUpload", "id", name="a.png", contentType="image/png", size=8, sha256="0" * 64)


GRAPHQL_IMAGES: dict[str, Callable[[World], tuple[str, dict[str, Any], str | None]]] = {
    "list images": lambda world: ("{ images(first: 100) { edges { node { id } } } }", {}, str(world.target.image.pk)),
    "upload an image": upload_document,
    "change an image": lambda world: image_document(world, "updateImage", "image { id }", alt="New"),
    "delete an image": lambda world: image_document(world, "deleteImage", "deletedImageId"),
    "use an image as a cover": cover_document,
}


def cover_request(world: World) -> tuple[str, str, Body, None]:
    return "PATCH", f"/posts/{world.post_id('published')}", {"coverId": str(world.target.image.pk)}, None


REST_IMAGES: dict[str, Callable[[World], tuple[str, str, Body, Any]]] = {
    "list images": lambda world: ("GET", "/images", None, str(world.target.image.pk)),
    "upload an image": lambda _: ("POST", "/images", make_png(8, 8), None),
    "change an image": lambda world: ("PATCH", f"/images/{world.target.image.pk}", {"alt": "New"}, None),
    REPLACE_FILE: lambda world: ("PUT", f"/images/{world.target.image.pk}/content", make_png(8, 8), None),
    "delete an image": lambda world: ("DELETE", f"/images/{world.target.image.pk}", None, None),
    "use an image as a cover": cover_request,
}
