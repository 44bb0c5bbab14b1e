"""Images with files, as the worker leaves them, but without its work."""

import io
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

from django.utils import timezone

from blog import services
from blog.models import Image, ImageStatus
from contentapi.conf.timeouts import OLD_FILES_KEPT_FOR
from contentapi.core.identity import WORKER
from contentapi.media.access import get_storage
from contentapi.media.storage import PUBLIC, compute_key
from tests.factories import make_image

RESULT = {
    "width": 400,
    "height": 200,
    "content_type": "image/jpeg",
    "size": 9,
    "sha256": "0" * 64,
    "thumbhash": "3OcRJYB4d3h/iIeHeEh3eIhw+j2w",
    "has_alpha": False,
    "files": ["400.jpg", "320.webp", "320.jpg", "400.webp"],
}
Process = Callable[[Path, Path, Callable[[], bool]], dict[str, Any] | None]


def make_ready_image(*, has_files: bool = False, **values: Any) -> Image:
    """Return an image of 700 by 350 pixels that is ready. With `has_files`, its files contain their names."""
    image = make_image(
        **{
            "status": ImageStatus.READY,
            "width": 700,
            "height": 350,
            "thumbhash": "3OcRJYB4d3h/iIeHeEh3eIhw+j2w",
            "original": "700.jpg",
            "widths": [320, 640, 700],
            "formats": ["webp", "jpg"],
            "source": "",
            **values,
        }
    )
    image.key = compute_key(image.pk, 1)
    image.save(update_fields=["key"])
    for name in image.list_file_names() if has_files else []:
        get_storage().put(name, io.BytesIO(name.encode()))
    return image


def list_stored(prefix: str = "") -> list[str]:
    return sorted(file.name for file in get_storage().list_files(prefix))


def list_stored_after_a_day() -> list[str]:
    """Let the worker delete what images have not named for a day. Return the public files that are left."""
    Image.objects.exclude(outdated_at=None).update(outdated_at=timezone.now() - OLD_FILES_KEPT_FOR)
    services.delete_outdated_files(actor=WORKER)
    return list_stored(PUBLIC)


def make_files(_: Path, folder: Path, may_continue: Callable[[], bool]) -> dict[str, Any]:
    assert may_continue()
    for name in RESULT["files"]:  # type: ignore[attr-defined]
        (folder / name).write_text(name)
    return RESULT


def work() -> int:
    services.hide_deleted_images(actor=WORKER, stop=Event())
    return services.image_processing.process_images(actor=WORKER, stop=Event())


def list_public(image: Image) -> list[str]:
    image.refresh_from_db()
    return sorted(image.list_file_names())
