"""Copy the files of one storage to another, such as those of a folder to a bucket, also in several runs."""

from collections.abc import Iterator
from contextlib import suppress

from contentapi.media.storage import Storage, StoredFile, is_complete


def copy_files(source: Storage, target: Storage) -> Iterator[StoredFile | None]:
    """Copy the files that the target does not have in the same size. Yield each of these, and None for each other."""
    known = {file.name: file.size for file in target.list_files()}
    for file in source.list_files():
        copied = None
        if is_complete(file.name) and known.get(file.name) != file.size:
            with suppress(FileNotFoundError), source.open(file.name) as content:  # deleted since the list was read
                target.put(file.name, content)
                copied = file
        yield copied
