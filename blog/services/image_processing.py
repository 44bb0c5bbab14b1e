"""The files of images, which the worker makes.

A worker claims one image at a time, and renews the claim while it works: so several workers, also on several hosts,
never process the same image, and an image whose worker was killed is claimed again soon. No transaction is open while a
file is processed. Files are complete before the row names them. They are deleted a day after the row has named them.
`attempts` numbers the claims: a worker whose number is no longer that of the row changes nothing.
"""

import hashlib
import json
import logging
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from signal import SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGPROF, SIGSEGV
from tempfile import gettempdir
from threading import Event
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Min, Q
from django.utils import timezone

from blog import policy
from blog.images.formats import MAX_MEMORY, list_extensions, list_widths
from blog.models import IS_WAITING, Image, ImageStatus
from blog.services.images import DELETED
from contentapi.conf import conf
from contentapi.conf.timeouts import CLAIM_RENEWAL, IMAGE_LIMIT, UPLOADS_KEPT_FOR
from contentapi.core.identity import Actor
from contentapi.core.limited_child import ChildEnded, LimitedChild
from contentapi.core.policy import require_permission
from contentapi.media.access import get_storage
from contentapi.media.storage import PUBLIC, compute_key, name_file
from contentapi.monitoring.figures import FIGURES
from contentapi.monitoring.owned_folder import OwnedFolder
from contentapi.worker.claims import CLAIM_END, IS_FREE, claim
from contentapi.worker.items import try_item

LOG = logging.getLogger("contentapi.worker")
MAX_ATTEMPTS = 5  # claims that no worker has finished
COMMAND = [sys.executable, "-m", "blog.images.variants"]
# The signals by which a limit, or an error in a decoder, ends the child
BREAKDOWNS = {-SIGPROF, -SIGSEGV, -SIGABRT, -SIGBUS, -SIGFPE, -SIGILL}
WORK_FOLDER = "contentapi-image-"
SOURCE, FILES = "source", "files"  # in such a folder
INTERRUPTED = "The processing was interrupted several times. Upload the image again."
MISSING = "The uploaded file is missing. Upload the image again."


def process_images(*, actor: Actor, stop: Event) -> int:
    """Process all images that wait. Return early when `stop` is set. Returns the number of images."""
    require_permission(actor, policy.may_purge_images(actor), "process images")
    return work_on_images("images", IS_WAITING, partial(process_image, stop=stop), stop)


def work_on_images(job: str, condition: Q, work: Callable[[Image], None], stop: Event | None = None) -> int:
    """Claim and work on the images that meet a condition. Returns the number of those that did not fail."""
    number = 0
    while not (stop and stop.is_set()) and (image := claim_image(condition)) is not None:
        number += bool(try_item(job, f"image {image.pk}", work_on_claimed, image, work))
    return number


def work_on_claimed(image: Image, work: Callable[[Image], None]) -> bool:
    """Work on an image. Returns true. After an error, the image waits for as long as a claim lasts.

    An error of the storage, the disk or the database does not count as an attempt. A child that somebody has killed
    counts: perhaps it is the image.
    """
    try:
        work(image)
    except Exception as error:
        if not (isinstance(error, ChildEnded) and error.status == -SIGKILL):
            release(image, CLAIM_END)
        raise
    return True


@transaction.atomic
def claim_image(condition: Q) -> Image | None:
    """Claim the oldest image that meets a condition and that no other worker processes.

    The images of the person with the fewest come first: an import does not hold up the others.
    """
    images = Image.objects.filter(condition)
    people = images.values("owner_id").annotate(number=Count("pk"), oldest=Min("pk", filter=IS_FREE))
    in_turn = people.exclude(oldest=None).order_by("number", "oldest")
    for pk in in_turn.values_list("oldest", flat=True):
        if image := claim(images.filter(pk=pk)):
            return image
    return None


def select_claimed(image: Image) -> Any:
    """Return the row of an image, if the claim is still that of this worker."""
    return Image.objects.filter(pk=image.pk, attempts=image.attempts, source=image.source)


def renew(image: Image) -> bool:
    """Renew a claim. Return whether it is still that of this worker."""
    return bool(select_claimed(image).update(claimed_until=CLAIM_END))


def release(image: Image, until: Any = None) -> None:
    """End a claim without an outcome: any worker can process the image at once, or from some time on."""
    select_claimed(image).update(claimed_until=until, attempts=F("attempts") - 1)


def process_image(image: Image, stop: Event) -> None:
    """Make the files of an image."""
    if image.attempts > MAX_ATTEMPTS:
        reject(image, INTERRUPTED)
        return
    with create_work_folder() as created:
        folder = created.path
        outcome = make_files(image, image.source, folder, stop)
        if outcome is None:
            release(image)
        elif "rejection" in outcome:
            reject(image, outcome["rejection"])
        elif image.source.startswith(DELETED):
            accept(image, keep_original(image, outcome, folder), folder / FILES)
        else:
            with (folder / SOURCE).open("rb") as source:
                digest = hashlib.file_digest(source, "sha256").digest()
            accept(image, outcome, folder / FILES, sha256=digest)


def is_lost(since: datetime) -> bool:
    """Return whether a file is missing for so long that it will not come.

    In a storage without any public file nothing is lost: it is perhaps a folder that is not mounted.
    """
    return since <= timezone.now() - UPLOADS_KEPT_FOR and any(get_storage().list_files(PUBLIC))


def create_work_folder() -> closing[OwnedFolder]:
    """Create a temporary folder. The next one of this host deletes those of workers that were killed."""
    return closing(OwnedFolder(WORK_FOLDER, Path(gettempdir())))


def make_files(image: Image, name: str, folder: Path, stop: Event) -> dict[str, Any] | None:
    """Make the files of an image from one of the storage, while the claim is that of this worker: see `process_file`.

    Raises `FileNotFoundError` too, for as long as the file may come.
    """

    def may_continue() -> bool:
        return not stop.is_set() and renew(image)

    source, files, began = folder / SOURCE, folder / FILES, monotonic()
    files.mkdir()
    try:
        stored = get_storage().open(name)
    except FileNotFoundError:
        if not is_lost(image.updated_at):
            raise
        return {"rejection": MISSING}
    with stored, source.open("wb") as copy:
        shutil.copyfileobj(stored, copy)
    outcome = process_file(source, files, may_continue) if may_continue() else None
    FIGURES.count("contentapi_image_seconds_total", amount=monotonic() - began)
    return outcome


def process_file(source: Path, folder: Path, may_continue: Callable[[], bool]) -> dict[str, Any] | None:
    """Write the variants of a file to a folder. Return None when `may_continue`, called now and then, is false.

    Otherwise return the fields of `blog.images.variants.Result`, or why the image is rejected, as `rejection`. Raises
    `ChildEnded` if somebody has killed the child, or if it has failed for another reason, such as a full disk.
    """
    request = [str(source), str(folder), conf.environment.contentapi_image_avif == "on"]
    try:
        with closing(LimitedChild(COMMAND, memory=MAX_MEMORY, seconds=IMAGE_LIMIT)) as child:
            child.begin(json.dumps(request).encode())
            while not child.is_done(CLAIM_RENEWAL):
                if not may_continue():
                    return None
            outcome: dict[str, Any] = json.loads(child.read_response())
    except ChildEnded as ended:
        if ended.status not in BREAKDOWNS:
            raise
        LOG.warning("The process that makes the variants of an image has ended with status %s.", ended.status)
        limit = f"{MAX_MEMORY // 2**20} MiB of memory and {IMAGE_LIMIT} s of processor time"
        return {"rejection": f"The image cannot be processed with {limit}. Upload it in a smaller size."}
    return outcome


def keep_original(image: Image, result: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Take the original from which an image is restored as it is: each encoding loses some of its quality."""
    shutil.copyfile(folder / SOURCE, folder / FILES / result["files"][0])
    return {**result, "size": image.size, "sha256": bytes(image.original_sha256 or b"").hex()}


def accept(image: Image, result: Mapping[str, Any], folder: Path, **uploaded: Any) -> None:
    """Store the files, and then name them in the row, with what is new of the uploaded file."""
    key = compute_key(image.pk, image.version + 1)
    store_files(image, key, result["files"], folder)
    values = {name: result[name] for name in ("width", "height", "content_type", "size", "thumbhash")} | uploaded
    values |= {
        "status": ImageStatus.READY,
        "rejection": None,
        "key": key,
        "original_sha256": bytes.fromhex(result["sha256"]),
        "original": result["files"][0],
        **describe_variants(result, folder),
    }
    finish(image, "ready", **values)


def store_files(image: Image, key: str, names: Iterable[str], folder: Path) -> None:
    for name in names:
        renew(image)  # a bucket may be slow
        with (folder / name).open("rb") as file:
            get_storage().put(name_file(image.pk, key, name), file)


def describe_variants(result: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the columns that name the variants, and the bytes of all files."""
    with_avif = conf.environment.contentapi_image_avif == "on"
    return {
        "widths": list_widths(result["width"], result["height"]),
        "formats": list_extensions(has_alpha=result["has_alpha"], with_avif=with_avif),
        "stored": sum((folder / name).stat().st_size for name in result["files"]),
    }


def reject(image: Image, reason: str) -> None:
    """Delete the file of an image. An image whose new file is rejected keeps the files that it has."""
    values = {} if image.original else {"status": ImageStatus.REJECTED}
    if finish(image, "rejected", rejection=reason, **values):
        LOG.info("Rejected the file of image %s. %s", image.pk, reason)
        delete_files([image.source])


@transaction.atomic
def finish(image: Image, outcome: str, **values: Any) -> bool:
    """Write the outcome of processing to the row. Return whether the claim was still that of this worker."""
    now = timezone.now()
    changes = {**values, "source": "", "claimed_until": None, "attempts": 0, "updated_at": now, "posts_outdated": True}
    if image.original or image.attempts > 1:  # an interrupted worker may have stored files
        changes["outdated_at"] = now
    is_ours = bool(select_claimed(image).update(version=F("version") + 1, **changes))
    if is_ours:
        FIGURES.count("contentapi_images_processed_total", outcome)
    return is_ours


def delete_files(names: Iterable[str]) -> None:
    storage = get_storage()
    for name in filter(None, names):
        storage.delete(name)
