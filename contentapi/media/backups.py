"""The files of images in a backup: a tar file beside the archive of the database.

It is written after the snapshot of the database. So it has the file of each image of the snapshot, except those that
were deleted or replaced meanwhile; files of later images do no harm.
"""

import tarfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from django.core.management.base import CommandError

from contentapi.conf import conf
from contentapi.db.backups.dump import Manifest, Report, compute_digest, locate_manifest, locate_media
from contentapi.media.access import find_media_folder
from contentapi.media.folder import FolderStorage
from contentapi.media.storage import is_complete


def write_files(draft: Path) -> dict[str, Any]:
    """Write the complete files of the folder to a tar file, and return what the manifest states of them.

    A bucket is not part of a backup: the manifest names it. Raises `CommandError`.
    """
    folder, number = find_media_folder(), 0
    if folder is None:
        return {"place": conf.environment.contentapi_media.partition("?")[0]}
    storage = FolderStorage(folder)
    try:
        with tarfile.open(draft, "w") as archive:
            for each in storage.list_files():
                if is_complete(each.name):
                    with suppress(FileNotFoundError), storage.open(each.name) as content:  # deleted meanwhile
                        archive.addfile(archive.gettarinfo(arcname=each.name, fileobj=content), content)
                        number += 1
    except OSError as error:
        raise CommandError(f"The files of images in {folder} cannot be copied. {error.strerror}.") from None
    return {"files": number, "bytes": draft.stat().st_size, "sha256": compute_digest(draft)} if number else {}


class ArchivedFiles:
    """The files of images of a backup, verified. `restore` writes them to the folder, which must be empty before.

    Raises `CommandError` for files that are damaged, and for a folder that is not empty.
    """

    def __init__(self, path: Path, report: Report) -> None:
        self.archive, self.folder, self.report = locate_media(path), find_media_folder(), report
        try:
            described = msgspec.json.decode(locate_manifest(path).read_bytes(), type=Manifest).media
        except (OSError, msgspec.MsgspecError):  # the restore of the database refuses it
            described = {}
        if "place" in described:
            report(f"Note: the files of images were in {described['place']}, and are not in this backup.")
        if "sha256" in described:
            verify(self.archive, described["bytes"], described["sha256"])
        self.exist = self.archive.exists()
        if self.exist and self.folder is not None and any(FolderStorage(self.folder).list_files()):
            raise CommandError(f"The folder {self.folder} is not empty. Nothing is changed. Move its files away.")

    def restore(self) -> None:
        if not self.exist:
            return
        if self.folder is None:
            self.report(f"Note: extract {self.archive} into a folder, and copy it to the bucket by move_media.")
            return
        try:
            storage = FolderStorage(self.folder)
            with tarfile.open(self.archive, "r:") as archive:
                for member in archive:
                    if content := archive.extractfile(member):  # a file, not a folder; `put` checks its name
                        storage.put(member.name, content)
        except (OSError, ValueError, tarfile.TarError) as error:
            message = f"The database is restored, the files of images are not: {error}."
            raise CommandError(f"{message} Extract {self.archive} into {self.folder}.") from None
        self.report(f"Restored the files of images into {self.folder}.")


def verify(archive: Path, size: int, digest: str) -> None:
    if not archive.is_file():
        raise CommandError(f"There is no {archive}, which has the files of images. Nothing is changed.")
    if archive.stat().st_size != size or compute_digest(archive) != digest:
        raise CommandError(f"{archive} is damaged: it is another one than its manifest states. Nothing is changed.")
