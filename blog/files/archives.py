"""Read the zip file of a site that an editor has uploaded: its Markdown files and images.

No file is extracted: they are read from the archive one at a time. So the path of a file cannot lead out
of a folder, and a small archive cannot fill the memory or the disk. The size of the list of files is compared with a
limit before `ZipFile` reads the list.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple
from zipfile import BadZipFile, ZipFile, ZipInfo

from blog.files import reading
from blog.files.archived_images import ArchivedImages, is_image_file
from blog.files.members import decompress_member, get_path
from blog.files.reading import MarkdownFile
from blog.files.syntax import InvalidFile
from contentapi.core.errors import Invalid

MEGABYTE = 1_000_000
MAX_ARCHIVE = 50 * MEGABYTE
MAX_FILES = 10_000
MAX_LIST = 5 * MEGABYTE  # of the names and places of the files, which `ZipFile` reads at once
MAX_CONTENT = 200 * MEGABYTE  # of the Markdown files
MAX_IMAGES = 500 * MEGABYTE  # decompressed, those of at most CONTENTAPI_IMAGE_MAX_BYTES
IS_ENCRYPTED = 0x1
LISTED_FILE = b"PK\x01\x02"  # the begin of each entry of the list of files
RESOURCE_FORKS = "__MACOSX"
NOT_A_SITE = {"/", "..", "_drafts", "_posts"}  # a folder that is no name of a source


class ArchiveContent(NamedTuple):
    """The name of the source, the Markdown files of an archive, and the number of its other files."""

    source: str
    files: list[MarkdownFile]
    ignored: int


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
