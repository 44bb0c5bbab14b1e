"""Read the zip file of a site that an editor has uploaded: its Markdown files and images.

No file is extracted: they are read from the archive one at a time. So the path of a file cannot lead out
of a folder, and a small archive cannot fill the memory or the disk.
"""

import re
import zlib
from functools import partial
from pathlib import PurePosixPath
from posixpath import basename, normpath
from typing import IO, Any
from unicodedata import normalize
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from blog.files import reading
from blog.files.image_links import is_image_name, read_path
from blog.files.images import DESCRIBED, NO_FILE, UnusableImage, list_places, require_image_size
from blog.files.reading import MarkdownFile
from blog.files.syntax import InvalidFile
from contentapi.conf import conf
from contentapi.core.errors import Invalid

MEGABYTE = 1_000_000
MAX_ARCHIVE = 50 * MEGABYTE
MAX_FILES = 10_000
MAX_NAMES = 5 * MEGABYTE  # of the paths of the files, which are split into folders
MAX_CONTENT = 200 * MEGABYTE  # of the Markdown files
MAX_IMAGES = 500 * MEGABYTE  # decompressed, those of at most CONTENTAPI_IMAGE_MAX_BYTES
IS_ENCRYPTED = 0x1
IS_UTF_8 = 0x800
LISTED_FILE = b"PK\x01\x02"  # the begin of each entry of the list of files
NOT_A_SITE = {"/", "..", "_drafts", "_posts"}  # a folder that is no name of a source


class Archive:
    """The source, the Markdown files and the images of a zip file. Raises `Invalid` for one that cannot be read."""

    def __init__(self, archive: IO[bytes], *, name: str, source: str | None = None) -> None:
        self.opened = open_archive(archive)
        members = [(path, member) for member in self.opened.infolist() if reading.is_visible(path := get_path(member))]
        posts = [(path, member) for path, member in members if reading.is_markdown(path)]
        others = [(path, member) for path, member in members if not reading.is_markdown(path)]
        images = [member for path, member in others if is_image_file(path, member)]
        require_few("The Markdown files have", sum(member.file_size for _, member in posts), MAX_CONTENT)
        require_few("The images have", sum(member.file_size for member in images), MAX_IMAGES)
        self.by_path = {normpath(path.as_posix()): member for path, member in others}
        self.by_name: dict[str, list[str]] = {}
        for found in self.by_path:
            self.by_name.setdefault(basename(found), []).append(found)
        folders = {path.parts[0] if len(path.parts) > 1 else "" for path, _ in members}
        self.root = folders.pop() if len(folders) == 1 and not folders & NOT_A_SITE else ""  # it contains all files
        self.source = reading.require_source_name(source or self.root or PurePosixPath(name).stem)
        self.files = [self.build_markdown_file(path, member) for path, member in posts]
        self.ignored = len(others) - len(images)

    def build_markdown_file(self, path: PurePosixPath, member: ZipInfo) -> MarkdownFile:
        inside = path.relative_to(self.root) if self.root else path
        read, read_image = partial(self.read_markdown, path, member), partial(self.read_image, path)
        return MarkdownFile(self.source, inside.as_posix(), path, read, read_image)

    def read_markdown(self, path: PurePosixPath, member: ZipInfo) -> bytes:
        """Return the content of a Markdown file. Raises `InvalidFile`."""
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            raise InvalidFile("its path leads out of the zip file. Create the zip file from the folder of the site.")
        reading.require_file_size(member.file_size)
        try:
            content = self.decompress(member, reading.MAX_FILE)
        except Exception:  # noqa: BLE001 - each compression has errors of its own, and zipfile others
            raise InvalidFile("is damaged in the zip file, or compressed in an unknown way. Create it again.") from None
        reading.require_file_size(len(content))
        return content

    def read_image(self, file: PurePosixPath, address: str) -> bytes:
        """Return the content of the image that a file names by an address. Raises `UnusableImage`."""
        path = self.find_image(file, read_path(address))
        member = self.by_path[path]
        require_image_size(member.file_size)
        try:
            return self.decompress(member, member.file_size) if is_image_file(PurePosixPath(path), member) else b""
        except Exception:  # noqa: BLE001 - each compression has errors of its own, and zipfile others
            raise UnusableImage("it is damaged in the zip file") from None

    def find_image(self, file: PurePosixPath, path: str) -> str:
        """Return where an image is. As site generators do, look in other folders too, if the end is unique."""
        for place in list_places(PurePosixPath(self.root), file, path):
            if (found := normpath(place.as_posix())) in self.by_path:
                return found
        end = "/" + normpath("/" + path.replace("\\", "/")).lstrip("/")
        matching = [found for found in self.by_name.get(basename(end), ()) if f"/{found}".endswith(end)]
        if len(matching) != 1:
            raise UnusableImage("several files have this path" if matching else NO_FILE)
        return matching[0]

    def decompress(self, member: ZipInfo, most: int) -> bytes:
        """Return the content of a file, or a longer beginning than `most`. Raises errors of `zipfile` and `zlib`."""
        if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise BadZipFile("Unsupported compression")  # bzip2 makes 45 MB of 40 bytes, and LZMA 30 MB of a block
        with self.opened.open(member) as file:
            return file.read(most + 1)


class CountingFile:
    """A file of which no part with too many entries of the list of files is read. Raises `Invalid`.

    `ZipFile` reads the list as one part, and would create an object for each entry, whatever number the archive states.
    """

    is_counting = True  # until the list is read: the files can have zip files in them

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def read(self, size: int = -1) -> bytes:
        content = self.file.read(size)
        if self.is_counting:
            require_few("The zip file has", content.count(LISTED_FILE), MAX_FILES, "files")
        return content


def open_archive(archive: IO[bytes]) -> ZipFile:
    require_few("The zip file has", archive.seek(0, 2), MAX_ARCHIVE)
    file = CountingFile(archive)
    try:
        opened = ZipFile(file)
    except (BadZipFile, NotImplementedError, ValueError):
        raise build_archive_error("This is not a zip file, or it is damaged. Create it again.") from None
    file.is_counting = False
    if any(member.flag_bits & IS_ENCRYPTED for member in opened.infolist()):
        raise build_archive_error("The zip file is encrypted. Create it without a password.")
    length = sum(len(member.filename) + len(member.extra) for member in opened.infolist())
    require_few("The names in the zip file have", length, MAX_NAMES)
    return opened


def build_archive_error(message: str) -> Invalid:
    return Invalid({"archive": [message]})


def is_image_file(path: PurePosixPath, member: ZipInfo) -> bool:
    """Return whether a file can be an image that is imported, or what describes one: by its name and its size."""
    is_small = member.file_size <= conf.environment.contentapi_image_max_bytes
    return is_image_name(path.name.lower().removesuffix(DESCRIBED)) and is_small


def require_few(subject: str, number: int, most: int, unit: str = "bytes") -> None:
    """Raise `Invalid` for a number above the limit."""
    if number > most:
        raise build_archive_error(f"{subject} {number:,} {unit}; at most {most:,} are allowed. Split the zip file.")


def get_path(member: ZipInfo) -> PurePosixPath:
    """Return the path of a file in an archive, in NFC: macOS writes names in NFD. That of a folder is empty."""
    path = normalize("NFC", read_name(member).replace("\\", "/"))
    return PurePosixPath("" if path.endswith("/") else path)


def read_name(member: ZipInfo) -> str:
    """Return the name of a file as its flag or its Unicode path says (APPNOTE, 4.6.9), or else in UTF-8 if it is valid
    there, and otherwise in CP437. `ZipFile` of Python 3.11 knows the flag alone.
    """
    if member.flag_bits & IS_UTF_8:
        return member.filename
    name = member.orig_filename.encode("cp437")
    checksum = zlib.crc32(name).to_bytes(4, "little")
    stated = re.search(rb"\x75\x70(..)\x01" + re.escape(checksum), member.extra, re.DOTALL)
    if stated:
        name = member.extra[stated.end() :][: int.from_bytes(stated[1], "little") - 5]
    try:
        return name.partition(b"\0")[0].decode()
    except UnicodeDecodeError:
        return member.filename
