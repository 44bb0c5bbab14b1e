"""Read the zip file of a site that an editor has uploaded: its Markdown files and images.

No file is extracted: they are read from the archive one at a time. So the path of a file cannot lead out
of a folder, and a small archive cannot fill the memory or the disk. The size of the list of files is compared with a
limit before `ZipFile` reads the list.
"""

import struct
import zlib
from collections.abc import Iterable
from functools import partial
from pathlib import PurePosixPath
from posixpath import normpath
from typing import IO, Any, NamedTuple
from unicodedata import normalize
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from blog.files import reading
from blog.files.image_links import build_path_ends, is_image_name, read_path
from blog.files.images import DESCRIBED, NO_FILE, ROOTS, UnusableImage, require_image_size
from blog.files.reading import MarkdownFile
from blog.files.syntax import InvalidFile
from contentapi.conf import conf
from contentapi.core.errors import Invalid

MEGABYTE = 1_000_000
MAX_ARCHIVE = 50 * MEGABYTE
MAX_FILES = 10_000
MAX_LIST = 5 * MEGABYTE  # of the names and places of the files, which `ZipFile` reads at once
MAX_CONTENT = 200 * MEGABYTE  # of the Markdown files
MAX_IMAGES = 500 * MEGABYTE  # decompressed, those of at most CONTENTAPI_IMAGE_MAX_BYTES
IS_ENCRYPTED = 0x1
IS_UTF_8 = 0x800
FIELD, UNICODE_PATH = struct.Struct("<HH"), 0x7075  # an extra field begins with its kind and its size
LISTED_FILE = b"PK\x01\x02"  # the begin of each entry of the list of files
RESOURCE_FORKS = "__MACOSX"
NOT_A_SITE = {"/", "..", "_drafts", "_posts"}  # a folder that is no name of a source


class ArchiveContent(NamedTuple):
    """The name of the source, the Markdown files of an archive, and the number of its other files."""

    source: str
    files: list[MarkdownFile]
    ignored: int


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


def list_content(opened: ZipFile, *, name: str, source: str | None = None) -> ArchiveContent:
    """Return what an archive contains; no file of it is read. Raises `Invalid` if it is encrypted or too large."""
    members = list_members(opened)
    root = find_common_folder(members)
    chosen = reading.require_source_name(source or root or PurePosixPath(name).stem)
    posts = [member for member in members if is_post_file(member)]
    others = [member for member in members if not is_post_file(member)]
    image_files = [member for member in others if is_image_file(member)]
    require_small("Markdown files", posts, MAX_CONTENT)
    require_small("images", image_files, MAX_IMAGES)
    images = ArchivedImages(opened, others, root)
    files = [build_markdown_file(opened, member, root, chosen, images) for member in posts]
    return ArchiveContent(chosen, files, ignored=len(others) - len(image_files))


def build_archive_error(message: str) -> Invalid:
    return Invalid({"archive": [message]})


def open_archive(archive: IO[bytes]) -> ZipFile:
    size = archive.seek(0, 2)
    if size > MAX_ARCHIVE:
        raise build_archive_error(f"The zip file has {size:,} bytes; at most {MAX_ARCHIVE:,} are allowed. Split it.")
    guarded = GuardedFile(archive)
    try:
        opened = ZipFile(guarded)
    except (BadZipFile, NotImplementedError, ValueError):
        raise build_archive_error("This is not a zip file, or it is damaged. Create it again.") from None
    guarded.is_open = True
    return opened


class GuardedFile:
    """A zip file for `ZipFile`, which reads the whole list of files when it opens one, and creates an object for each.

    Until `is_open` is set, `read` raises `Invalid` for a list that is too large or has too many files.
    """

    def __init__(self, archive: IO[bytes]) -> None:
        self.archive = archive
        self.is_open = False

    def read(self, size: int = -1) -> bytes:
        if size > MAX_LIST and not self.is_open:
            raise build_archive_error(
                f"The list of files in the zip file has {size:,} bytes; at most {MAX_LIST:,} are allowed. Split it."
            )
        content = self.archive.read(size)
        if not self.is_open and (number := content.count(LISTED_FILE)) > MAX_FILES:
            raise build_archive_error(
                f"The zip file has {number:,} files; at most {MAX_FILES:,} are allowed. Split it."
            )
        return content

    def __getattr__(self, name: str) -> Any:
        return getattr(self.archive, name)


def list_members(opened: ZipFile) -> list[ZipInfo]:
    """Return the files in the archive, without hidden ones and those that macOS adds. Raises `Invalid`."""
    found = opened.infolist()
    if any(member.flag_bits & IS_ENCRYPTED for member in found):
        raise build_archive_error("The zip file is encrypted. Create it without a password.")
    return [member for member in found if not member.filename.endswith("/") and is_visible(get_path(member))]


def is_visible(path: PurePosixPath) -> bool:
    hidden = [part for part in path.parts if (part.startswith(".") and part != "..") or part == RESOURCE_FORKS]
    return bool(path.parts) and not hidden


def is_post_file(member: ZipInfo) -> bool:
    return get_path(member).suffix.lower() in reading.SUFFIXES


def find_common_folder(members: list[ZipInfo]) -> str:
    """Return the name of the folder that contains all files, or an empty string."""
    folders = {path.parts[0] if len(path.parts) > 1 else "" for path in map(get_path, members)}
    return folders.pop() if len(folders) == 1 and not folders & NOT_A_SITE else ""


def require_small(kind: str, members: Iterable[ZipInfo], most: int) -> None:
    """Raise `Invalid` if files are too large together."""
    size = sum(member.file_size for member in members)
    if size > most:
        raise build_archive_error(f"The {kind} have {size:,} bytes; at most {most:,} are allowed. Split the zip file.")


def build_markdown_file(
    opened: ZipFile, member: ZipInfo, root: str, source: str, images: ArchivedImages
) -> MarkdownFile:
    path = get_path(member)
    inside = path.relative_to(root) if root else path
    read, read_image = partial(read_member, opened, member), partial(images.read, path)
    return MarkdownFile(source, inside.as_posix(), path, read, read_image)


def read_member(opened: ZipFile, member: ZipInfo) -> bytes:
    """Return the content of a file in the archive. Raises `InvalidFile`."""
    path = get_path(member)
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
        raise InvalidFile("its path leads out of the zip file. Create the zip file from the folder of the site.")
    reading.require_file_size(member.file_size)
    try:
        content = decompress_member(opened, member, reading.MAX_FILE)
    except Exception:  # noqa: BLE001 - each compression has errors of its own, and zipfile others
        raise InvalidFile("is damaged in the zip file, or compressed in an unknown way. Create it again.") from None
    reading.require_file_size(len(content))
    return content


def is_image_file(member: ZipInfo) -> bool:
    """Return whether a file can be an image that is imported, or what describes one: by its name and its size."""
    is_small = member.file_size <= conf.environment.contentapi_image_max_bytes
    return is_image_name(get_path(member).name.lower().removesuffix(DESCRIBED)) and is_small


def get_path(member: ZipInfo) -> PurePosixPath:
    """Return the path of a file in an archive, in NFC: macOS writes names in NFD."""
    return PurePosixPath(normalize("NFC", read_name(member).replace("\\", "/")))


def read_name(member: ZipInfo) -> str:
    """Return the name of a file as its flag or its Unicode path says (APPNOTE, 4.6.9).

    Without both, it is in UTF-8 if it is valid there, and otherwise in CP437. `ZipFile` knows the flag alone.
    """
    if member.flag_bits & IS_UTF_8:
        return member.filename
    name = member.orig_filename.encode("cp437")
    stated = find_unicode_path(member.extra, zlib.crc32(name)) or name
    try:
        return stated.partition(b"\0")[0].decode()
    except UnicodeDecodeError:
        return member.filename


def find_unicode_path(extra: bytes, checksum: int) -> bytes:
    """Return the Unicode path among the extra fields of a file, if it is that of the name with this checksum."""
    while len(extra) >= FIELD.size:
        kind, size = FIELD.unpack_from(extra)
        value, extra = extra[FIELD.size : FIELD.size + size], extra[FIELD.size + size :]
        if kind == UNICODE_PATH and value[:5] == b"\x01" + checksum.to_bytes(4, "little"):
            return value[5:]
    return b""


def decompress_member(opened: ZipFile, member: ZipInfo, most: int) -> bytes:
    """Return the content of a file in the archive, or a beginning that is longer than `most` bytes.

    Raises what `zipfile` and `zlib` raise for damaged content.
    """
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise BadZipFile("Unsupported compression")  # bzip2 makes 45 MB of 40 bytes, and LZMA 30 MB of a block
    with opened.open(member) as file:
        return file.read(most + 1)
