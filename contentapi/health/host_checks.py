"""The checks of a deployment that need no database: signing keys, Redis, disks."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage

from contentapi.conf import conf
from contentapi.conf.timeouts import REDIS_CHECK_LIMIT
from contentapi.core.redis import connect_redis
from contentapi.health import checks
from contentapi.health.deployment import Messages, describe_result, format_bytes, note, problem, register_check, warning
from contentapi.media.access import find_media_folder, store_probe

LEAST_FREE_SPACE = 1024**3  # bytes
LEAST_FREE_SHARE = 0.05  # of the disk and of its inodes
OLDEST_REDIS = (6, 0)  # the oldest version with users (ACL), which Redis' own documentation describes


@register_check
def check_keys() -> Messages:
    remedy = "Set JWT_PRIVATE_KEY to an RSA key in PEM: openssl genrsa 2048"
    if conf.keys_folder is not None:
        remedy = f"Check that the files in {conf.keys_folder} are keys in PEM and belong to the user of the server."
    yield describe_result("keys", checks.check_keys(), "The signing key signs, and its signature is valid.", remedy)


@register_check
def check_redis() -> Messages:
    """Yield whether Redis responds, and what its version and its settings mean for the rate limits."""
    if not conf.environment.redis_url:
        message = "REDIS_URL is not set: each worker process counts rate limits alone."
        yield note("redis", message, "Set REDIS_URL if several processes serve.")
        return
    result = checks.check_redis()
    yield describe_result("redis", result, "Redis responds and accepts writes.", "Start Redis, or correct REDIS_URL.")
    if not result.is_problem:
        yield from check_redis_server()


def check_redis_server() -> Messages:
    from redis.exceptions import RedisError

    client = connect_redis(conf.environment.redis_url, timeout=REDIS_CHECK_LIMIT)
    try:
        information: dict[str, Any] = client.info()
    except (RedisError, OSError):
        yield note("redis", "The version of Redis is not known.", "Permit the user of REDIS_URL to execute INFO.")
        return
    finally:
        client.close()
    version = str(information.get("redis_version", "0"))
    if tuple(map(int, version.split(".")[:2])) < OLDEST_REDIS:
        yield problem("redis", f"Redis is version {version}.", "Use version 6 or newer.")
    else:
        yield note("redis", f"Redis is version {version}.")
    policy = str(information.get("maxmemory_policy", "noeviction"))
    if information.get("maxmemory") and policy.startswith("allkeys"):
        message = f"Redis evicts any key when its memory is full (maxmemory-policy {policy}): counts get lost."
        yield warning(
            "redis", message, "Set maxmemory-policy to noeviction or volatile-ttl, or use a Redis of its own."
        )


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
    usage, inodes = shutil.disk_usage(folder), os.statvfs(folder)
    message = f"{format_bytes(usage.free)} of {format_bytes(usage.total)} are free in {folder} (for {purpose})."
    is_full = usage.free < LEAST_FREE_SPACE or usage.free < LEAST_FREE_SHARE * usage.total
    if is_full:
        return problem("disk", message, "Delete files, or enlarge the disk.")
    if inodes.f_files and inodes.f_favail < LEAST_FREE_SHARE * inodes.f_files:
        return problem("disk", f"{folder} has {inodes.f_favail} of {inodes.f_files} inodes left.", "Delete files.")
    return note("disk", message)
