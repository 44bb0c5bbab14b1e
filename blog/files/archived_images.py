"""The images of a zip file, which the posts in it name by their paths."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from posixpath import normpath
from urllib.parse import unquote
from zipfile import ZipFile, ZipInfo

from blog.files.image_links import build_path_ends, find_end
from blog.files.images import DESCRIBED, ROOTS
from blog.files.members import decompress_member, get_path
from contentapi.conf import conf

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".avif", ".gif")


def is_image_file(member: ZipInfo) -> bool:
    """Return whether a file can be an image that is imported, or what describes one: by its name and its size."""
    limit = conf.environment.contentapi_image_max_bytes
    return get_path(member).name.lower().removesuffix(DESCRIBED).endswith(SUFFIXES) and member.file_size <= limit


class ArchivedImages:
    """The images of an opened archive. `root` is the folder that contains all files."""

    def __init__(self, opened: ZipFile, members: Iterable[ZipInfo], root: str) -> None:
        self.opened = opened
        self.root = PurePosixPath(root)
        self.by_path = {normpath(get_path(member).as_posix()): member for member in members if is_image_file(member)}
        self.by_end: dict[str, list[ZipInfo]] = {}
        for path, member in self.by_path.items():
            for end in build_path_ends([path]):
                self.by_end.setdefault(end, []).append(member)

    def read(self, file: PurePosixPath, address: str) -> bytes | None:
        """Return the content of the image that a file names by an address; None for a damaged or unknown one."""
        member = self.find(file, address)
        if member is None:
            return None
        try:
            content = decompress_member(self.opened, member, member.file_size)
        except Exception:  # noqa: BLE001 - each compression has errors of its own, and zipfile others
            return None
        return content if len(content) == member.file_size else None

    def find(self, file: PurePosixPath, address: str) -> ZipInfo | None:
        """Return the file at the address. As site generators do, look in other folders too, if the end is unique."""
        path = unquote(re.split("[?#]", address, maxsplit=1)[0])
        folders = [] if path.startswith("/") else [file.parent]
        for folder in [*folders, *(self.root / each for each in ROOTS)]:
            found = self.by_path.get(normpath((folder / path.lstrip("/")).as_posix()))
            if found is not None:
                return found
        ending = self.by_end.get(find_end(address), [])
        return ending[0] if len(ending) == 1 else None
