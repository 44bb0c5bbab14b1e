"""The files from which posts were imported. Each file has one post."""

from blog.models import PostSource
from contentapi.db.distribution import get_backend


def claim_file(source: str, path: str, pk: int) -> bool:
    """Let no other post get a file, on a distributed database, where no unique index does. Return whether none has it.

    Call this in a transaction.
    """
    return get_backend().claim("file", f"{source}\n{path}", pk, has_file)


def has_file(file: str, pk: int) -> bool:
    source, _, path = file.partition("\n")
    return PostSource.objects.filter(post=pk, source=source, path=path).exists()
