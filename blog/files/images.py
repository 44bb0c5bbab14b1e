"""The images of imported and exported files: a file names the path of an image, and a post its id.

An import stores the image that a path leads to, once for equal bytes, and writes its id in place of the path. An export
writes the images beside the files, and their paths in place of the ids; what an image says is in a file beside it, such
as `images/41.jpg.json`. So importing an export changes nothing.
"""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any, TypeVar
from unicodedata import normalize
from urllib.parse import unquote

import msgspec

from blog import services
from blog.files.front_matter import MarkdownPost
from blog.files.image_links import Place, is_image_name, is_local, read_path, rewrite_addresses
from blog.files.keys import COVER_KEYS
from blog.files.syntax import InvalidFile, Table
from blog.models import MAX_IMAGES, Image
from blog.rendering.images import REFERENCE, SCHEME
from contentapi.conf import conf
from contentapi.core.errors import Invalid, TooLarge, UnsupportedMediaType
from contentapi.core.identity import Actor
from contentapi.http.uploads import SentFile
from contentapi.media.access import get_storage

PATH_KEYS = ("image", "src", "file", "path", "url")  # of a cover that is a table
FOLDER = "images"  # of an export
DESCRIBED = ".json"  # the end of the name of the file that describes an image
MAX_DESCRIPTION = 20_000  # bytes
ROOTS = (".", "static", "assets", "public")  # in which a site has the files of addresses that begin with a slash
NO_FILE = "no file has this path"
ReadImage = Callable[[str], bytes]
AnyPath = TypeVar("AnyPath", bound=PurePath)


class Description(msgspec.Struct, rename="camel"):
    """What an image says, in the file beside it."""

    name: str
    alt: str
    caption: str
    credit: str
    focal_point: dict[str, float]


class UnusableImage(ValueError):
    """An image that a file names cannot be imported. The message says why."""


def find_no_image(_: str) -> bytes:
    """Find no image. Raises `UnusableImage`."""
    raise UnusableImage(NO_FILE)


def require_image_size(size: int) -> None:
    limit = conf.environment.contentapi_image_max_bytes
    if size > limit:
        raise UnusableImage(f"it has {size:,} bytes; at most {limit:,} are allowed")


def list_places(root: AnyPath, file: AnyPath, path: str) -> list[AnyPath]:
    """Return where site generators look for a path that a file names: beside the file, and in folders of the site."""
    folders = [] if path.startswith("/") else [file.parent]
    return [folder / path.lstrip("/") for folder in (*folders, *(root / each for each in ROOTS))]


def read_image_of_folder(root: Path, file: Path, address: str) -> bytes:
    """Return the content of the image that a file names, below the imported folder. Raises `UnusableImage`."""
    path = read_path(address)
    for place in (each for form in ("NFC", "NFD") for each in list_places(root, file, normalize(form, path))):
        with suppress(OSError, ValueError):
            resolved = place.resolve()
            if resolved.is_relative_to(root.resolve()) and resolved.is_file():
                require_image_size(resolved.stat().st_size)
                return resolved.read_bytes()
    raise UnusableImage(NO_FILE)


def import_images(actor: Actor, post: MarkdownPost, read_image: ReadImage, *, dry_run: bool) -> MarkdownPost:
    """Return a post with the ids of the images that its file names by their paths. Others stay, and a note says why."""
    known: dict[str, int | None] = {}
    notes: list[str] = []

    def find(address: str) -> int | None:
        if address not in known:
            known[address] = None
            try:
                known[address] = store_image(actor, address, read_image, dry_run=dry_run)
            except UnusableImage as error:
                shown = unquote(address).replace("\0", "\N{REPLACEMENT CHARACTER}")  # PostgreSQL cannot store it
                notes.append(f"The image {shown} is not imported: {error}.")
            if len(known) - len(notes) > MAX_IMAGES:
                raise InvalidFile(f"the text has more than {MAX_IMAGES} images. Split the post.")
        return known[address]

    def rewrite(place: Place) -> str:
        is_wanted = is_local(place.address) and (place.is_image or is_image_name(read_path(place.address)))
        pk = find(place.address) if is_wanted else None
        return place.written if pk is None else f"{SCHEME}:{pk}"

    path, alt = next(((path, alt) for _, path, alt in iterate_covers(post.other)), ("", None))
    cover = {"cover_id": find(path) if path else None}
    cover["cover_alt"] = alt if cover["cover_id"] else None  # type: ignore[assignment]  # a text
    content = {**post.content, **cover, "body": rewrite_addresses(post.content["body"], rewrite)}
    return replace(post, content=content, notes=(*post.notes, *notes))


def store_image(actor: Actor, address: str, read_image: ReadImage, *, dry_run: bool) -> int | None:
    """Return the id of the image at an address, created if need be; in a dry run None. Raises `UnusableImage`."""
    content = read_image(address)
    digest = hashlib.sha256(content).digest()
    image = services.images.find_image_by_digest(digest)
    if image is None:
        sent = SentFile(BytesIO(content), services.images.shorten_file_name(unquote(address)), len(content), digest)
        try:
            services.image_room.require_format(sent.file)
            if dry_run:
                return None
            image = services.create_image(actor=actor, read_file=lambda: sent)
        except (UnsupportedMediaType, Invalid, TooLarge) as error:
            raise UnusableImage(error.message.rstrip(".")) from None
        with suppress(UnusableImage):
            describe_image(actor, image, read_image(f"{address}{DESCRIBED}"))
    return image.pk


def describe_image(actor: Actor, image: Image, content: bytes) -> None:
    """Give a new image what the file beside it says. Another file than that of an export is ignored."""
    with suppress(msgspec.MsgspecError, KeyError, Invalid):
        changes = msgspec.structs.asdict(msgspec.json.decode(content[:MAX_DESCRIPTION], type=Description))
        services.edit_image(actor=actor, image_id=str(image.pk), changes=changes)


def iterate_covers(meta: Table) -> Iterator[tuple[str, str, str | None]]:
    """Yield the keys that name a local image, with its path and its text."""
    for key in COVER_KEYS:
        value: Any = meta.get(key)
        alt = None
        if isinstance(value, dict):
            alt = value.get("alt") if isinstance(value.get("alt"), str) else None
            value = next((value[name] for name in PATH_KEYS if isinstance(value.get(name), str)), None)
        if isinstance(value, str) and value and is_local(value):
            yield key, value, alt


def export_images(post: MarkdownPost, paths: Mapping[int, str]) -> MarkdownPost:
    """Return a post with the paths of exported images in place of their ids."""

    def rewrite(place: Place) -> str:
        found = REFERENCE.fullmatch(place.address)
        return paths.get(int(found[1]), place.written) if found else place.written

    path, other = paths.get(post.content["cover_id"] or 0), post.other
    if path:  # without a cover, the keys that led to no image stay
        keys = [key for key, *_ in iterate_covers(other)]
        cover = build_cover(other[keys[0]] if keys else None, path, post.content["cover_alt"])
        kept = {key: value for key, value in other.items() if key not in keys}
        other = {**kept, "cover": cover}
    body = post.content["body"]
    if f"{SCHEME}:" in body:
        body = rewrite_addresses(body, rewrite)
    return replace(post, content={**post.content, "body": body}, other=other)


def build_cover(imported: Any, path: str, alt: str | None) -> Any:
    """Return what the front matter states of a cover: its path, or a table with its text and what was imported."""
    kept = imported if isinstance(imported, dict) else {}
    table = {key: value for key, value in kept.items() if key not in (*PATH_KEYS, "alt")}
    if not table and not alt:
        return path
    return {PATH_KEYS[0]: path, **({"alt": alt} if alt else {}), **table}


def write_images(directory: Path) -> dict[int, str]:
    """Write the originals of all images to a folder, and what they say. Return their paths in it. Raises `OSError`."""
    paths: dict[int, str] = {}
    storage = get_storage()
    for image in Image.objects.filter(deleted_at=None).exclude(original="").order_by("pk").iterator():
        extension = image.original.rpartition(".")[2]
        path = f"{FOLDER}/{image.pk}.{extension}"
        (directory / FOLDER).mkdir(exist_ok=True)
        with (
            suppress(FileNotFoundError),
            storage.open(image.name_file(image.original)) as original,
        ):  # deleted meanwhile
            with (directory / path).open("wb") as copy:
                shutil.copyfileobj(original, copy)
            texts = {name: getattr(image, name) for name in ("name", "alt", "caption", "credit")}
            description = Description(**texts, focal_point={"x": image.focal_x, "y": image.focal_y})
            (directory / f"{path}{DESCRIBED}").write_bytes(msgspec.json.format(msgspec.json.encode(description)))
            paths[image.pk] = path
    return paths
