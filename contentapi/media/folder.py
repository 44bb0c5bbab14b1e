"""Files in a folder, which a proxy may serve directly.

At a signed address, a client without a credential stores one file: what S3 calls presigned.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO
from urllib.parse import parse_qsl, urlencode

from django.core import signing

from contentapi.conf import conf
from contentapi.conf.timeouts import UPLOAD_LIFETIME
from contentapi.core.errors import Forbidden
from contentapi.media.storage import BLOCK, PARTIAL, PUBLIC, Expected, Presigned, StoredFile, require_name

# The modes of files and of their folders, whatever the umask is.
PUBLIC_MODES = (0o644, 0o755)
PRIVATE_MODES = (0o600, 0o700)
SIGNED_FOR = "contentapi.upload:"  # the purpose of a signature


class FolderStorage:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def locate(self, name: str) -> Path:
        return self.folder / require_name(name)

    def put(self, name: str, file: IO[bytes]) -> None:
        """Store a file, replacing an existing one: write a temporary file, then rename it."""
        path = self.locate(name)
        is_new = not path.parent.is_dir()
        if is_new:
            self.create_folder(name)
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=PARTIAL)
        try:
            with os.fdopen(handle, "wb") as target:
                shutil.copyfileobj(file, target, BLOCK)
                target.flush()
                os.fchmod(target.fileno(), get_modes(name)[0])
                os.fsync(target.fileno())
            Path(draft).replace(path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
        if is_new:
            sync_folder(path.parent.parent)

    def create_folder(self, name: str) -> None:
        """Create the folder of a file. A proxy of another user can read that of a public one."""
        folder, mode = self.locate(name).parent, get_modes(name)[1]
        folder.mkdir(parents=True, exist_ok=True)
        for each in (folder.parent, folder):
            if each != self.folder:
                with suppress(PermissionError):  # another user has created it
                    each.chmod(mode)

    def open(self, name: str) -> IO[bytes]:
        """Return a file for reading at any position. Raises `FileNotFoundError`."""
        return self.locate(name).open("rb")

    def head(self, name: str) -> int | None:
        """Return the size of a file; None if there is none."""
        try:
            return self.locate(name).stat().st_size
        except FileNotFoundError:
            return None

    def delete(self, name: str) -> None:
        """Delete a file, and its folder if that is the folder of one image and empty now."""
        path = self.locate(name)
        path.unlink(missing_ok=True)
        if path.parent.parent != self.folder:
            with suppress(OSError):
                path.parent.rmdir()

    def presign(self, name: str, expected: Expected) -> Presigned:
        """Return the request that stores exactly the expected file, for some minutes."""
        query = urlencode({"signature": signing.dumps(expected, salt=SIGNED_FOR + require_name(name))})
        return Presigned(f"{conf.origin}/{name}?{query}", expected.list_headers())

    def list_files(self, prefix: str = "") -> Iterator[StoredFile]:
        """Yield the files whose names begin with a prefix."""
        start, _, beginning = prefix.rpartition("/")
        matching = (self.folder / start).glob(f"{beginning}*")
        for each in sorted(matching):
            inside = [Path(folder, name) for folder, _, names in os.walk(each) for name in names]
            for path in inside or [each]:
                with suppress(FileNotFoundError):  # deleted meanwhile
                    status = path.stat()
                    if stat.S_ISREG(status.st_mode):
                        name = path.relative_to(self.folder).as_posix()
                        changed_at = datetime.fromtimestamp(status.st_mtime, UTC)
                        yield StoredFile(name, status.st_size, changed_at)


def get_modes(name: str) -> tuple[int, int]:
    return PUBLIC_MODES if name.startswith(PUBLIC) else PRIVATE_MODES


def sync_folder(folder: Path) -> None:
    """Write the names of a folder to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_signed_upload(name: str, query: str) -> Expected:
    """Return what may be stored under a name. Raises `Forbidden` for an address that is expired or not our own."""
    signature = dict(parse_qsl(query)).get("signature", "")
    try:
        return Expected(*signing.loads(signature, salt=SIGNED_FOR + name, max_age=UPLOAD_LIFETIME))
    except signing.SignatureExpired:
        raise Forbidden("The address of the upload has expired. Request another one.") from None
    except signing.BadSignature:
        raise Forbidden("The signature of the address is invalid.") from None
