"""Read the files of a zip file one at a time. None is extracted, and none can fill the memory."""

import struct
import zlib
from pathlib import PurePosixPath
from unicodedata import normalize
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

IS_UTF_8 = 0x800
FIELD, UNICODE_PATH = struct.Struct("<HH"), 0x7075  # an extra field begins with its kind and its size


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
        raise NotImplementedError  # bzip2 makes 45 MB of 40 bytes, and LZMA 30 MB of a block
    with opened.open(member) as file:
        return file.read(most + 1)
