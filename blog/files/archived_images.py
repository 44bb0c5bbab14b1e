"""The images of a zip file, which the posts in it name by their paths."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from posixpath import normpath
from zipfile import ZipFile, ZipInfo

from blog.files.image_links import build_path_ends, is_image_name, read_path
from blog.files.images import DESCRIBED, NO_FILE, ROOTS, UnusableImage, require_image_size
from blog.files.members import decompress_member, get_path
from contentapi.conf import conf


def is_image_file(member: ZipInfo) -> bool:
    """Return whether a file can be an image that is imported, or what describes one: by its name and its size."""
    is_small = member.file_size <= conf.environment.contentapi_image_max_bytes
    return is_image_name(get_path(member).name.lower().removesuffix(DESCRIBED)) and is_small


class ArchivedImages:
    """The files of an opened archive that may be images. `root` is the folder that contains all files."""

    def __init__(self, opened: ZipFile, members: Iterable[ZipInfo], root: str) -> None:
        self.opened = opened
        self.root = PurePosixPath(root)
        self.by_path = {normpath(get_path(member).as_posix()): member for member in members}
        self.by_end: dict[str, list[ZipInfo]] = {}
        for path, member in self.by_path.items():
            for end in build_path_ends(path):
                self.by_end.setdefault(end, []).append(member)

    def read(self, file: PurePosixPath, address: str) -> bytes:
        """Return the content of the image that a file names by an address. Raises `UnusableImage`."""
        member = self.find(file, read_path(address))
        require_image_size(member.file_size)
        try:
            content = decompress_member(self.opened, member, member.file_size) if is_image_file(member) else b""
        except Exception:  # noqa: BLE001 - each compression has errors of its own, and zipfile others
            raise UnusableImage("it is damaged in the zip file") from None
        return content

    def find(self, file: PurePosixPath, path: str) -> ZipInfo:
        """Return the file at the path. As site generators do, look in other folders too, if the end is unique."""
        folders = [] if path.startswith("/") else [file.parent]
        for folder in [*folders, *(self.root / each for each in ROOTS)]:
            found = self.by_path.get(normpath((folder / path.lstrip("/")).as_posix()))
            if found is not None:
                return found
        longest_end = next(iter(build_path_ends(path)), "")
        matching = self.by_end.get(longest_end, [])
        if len(matching) != 1:
            raise UnusableImage("several files have this path" if matching else NO_FILE)
        return matching[0]
