"""Read the files of a zip file one at a time. None is extracted, and none can fill the memory."""

import zlib
from bz2 import BZ2Decompressor
from copy import copy
from pathlib import PurePosixPath
from zipfile import ZIP_BZIP2, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

STEP = 4096  # bytes that are decompressed at once: LZMA can make 30 MB of them


def get_path(member: ZipInfo) -> PurePosixPath:
    return PurePosixPath(member.filename.replace("\\", "/"))


def decompress_member(opened: ZipFile, member: ZipInfo, most: int) -> bytes:
    """Return the content of a file in the archive, or a beginning that is longer than `most` bytes.

    Raises what `zipfile` and the modules of the compressions raise for damaged content.
    """
    if member.compress_type == ZIP_BZIP2:
        return decompress_bzip2(opened, member, most)
    content = bytearray()
    with opened.open(member) as file:
        while len(content) <= most and (part := file.read(STEP)):
            content += part
    return bytes(content)


def decompress_bzip2(opened: ZipFile, member: ZipInfo, most: int) -> bytes:
    """Do the same for bzip2, which makes 45 MB of 40 bytes. `ZipFile` does not limit this."""
    compressed = copy(member)
    compressed.compress_type, compressed.file_size = ZIP_STORED, member.compress_size
    compressed.CRC = None  # type: ignore[assignment]  # of the content, which is not compared here
    with opened.open(compressed) as file:
        content = BZ2Decompressor().decompress(file.read(), most + 1)
    if len(content) <= most and zlib.crc32(content) != member.CRC:
        raise BadZipFile("The checksum is wrong.")
    return content
