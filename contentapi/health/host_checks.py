"""The checks of a deployment that need no database: signing keys, Redis, disks."""

import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.core.checks import CheckMessage

from contentapi.conf import conf
from contentapi.health import checks
from contentapi.health.deployment import Messages, describe_result, format_bytes, note, problem, register_check
from contentapi.media.access import find_media_folder, store_probe

LEAST_FREE_SPACE = 1024**3  # bytes
LEAST_FREE_SHARE = 0.05  # of the disk


@register_check
def check_keys() -> Messages:
    remedy = "Set JWT_PRIVATE_KEY to an RSA key in PEM: openssl genrsa 2048"
    if conf.keys_folder is not None:
        remedy = f"Check that the files in {conf.keys_folder} are keys in PEM and belong to the user of the server."
    yield describe_result("keys", checks.check_keys(), "The signing key signs, and its signature is valid.", remedy)


@register_check
def check_redis() -> Messages:
    """Yield whether Redis responds, if there is one."""
    if not conf.environment.redis_url:
        message = "REDIS_URL is not set: each worker process counts rate limits alone."
        yield note("redis", message, "Set REDIS_URL if several processes serve.")
        return
    message = "Redis responds and accepts writes."
    yield describe_result("redis", checks.check_redis(), message, "Start Redis, or correct REDIS_URL.")


@register_check
def check_media() -> Messages:
    """Yield whether the files of images can be stored."""
    try:
        store_probe()
    except Exception as error:  # noqa: BLE001 - boto3 has many
        remedy = "Make the folder of CONTENTAPI_MEDIA writable for this user, or correct the bucket or its credentials."
        yield problem("media", f"Files of images cannot be stored. {error}", remedy)
    else:
        yield note("media", "Files of images can be stored.")


@register_check
def check_disks() -> Messages:
    """Yield the free space of the folders of generated, uploaded and media files, once if they are on the same disk."""
    folders: dict[int, tuple[str, Path]] = {}  # by disk
    uses = [("generated files", settings.VAR_DIR), ("uploads", Path(tempfile.gettempdir()))]
    if (media := find_media_folder()) is not None:
        uses.append(("images", media))
    for purpose, folder in uses:
        candidates = (folder, *folder.absolute().parents)
        existing = next(path for path in candidates if path.exists())
        folders.setdefault(existing.stat().st_dev, (purpose, existing))
    for purpose, folder in folders.values():
        yield check_disk(purpose, folder)


def check_disk(purpose: str, folder: Path) -> CheckMessage:
    usage = shutil.disk_usage(folder)
    message = f"{format_bytes(usage.free)} of {format_bytes(usage.total)} are free in {folder} (for {purpose})."
    if usage.free < LEAST_FREE_SPACE or usage.free < LEAST_FREE_SHARE * usage.total:
        return problem("disk", message, "Delete files, or enlarge the disk.")
    return note("disk", message)
