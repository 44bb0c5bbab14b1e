"""Copy the files of one storage to another, such as those of a folder to a bucket, also in several runs."""

from collections.abc import Iterator
from typing import NamedTuple

from contentapi.media.storage import Storage, is_complete


class Copied(NamedTuple):
    """A file of the source. `is_new` if the target did not have it."""

    name: str
    size: int
    is_new: bool


def copy_files(source: Storage, target: Storage) -> Iterator[Copied]:
    """Copy the files that the target does not have in the same size, and yield each file of the source."""
    known = {file.name: file.size for file in target.list_files()}
    for file in source.list_files():
        if not is_complete(file.name):
            continue
        is_new = known.get(file.name) != file.size
        if is_new:
            try:
                with source.open(file.name) as content:
                    target.put(file.name, content)
            except FileNotFoundError:  # deleted since the list was read
                continue
        yield Copied(file.name, file.size, is_new)
