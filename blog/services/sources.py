"""The files from which posts were imported. Each file has one post."""

from blog.models import PostSource
from contentapi.db.distribution import get_backend


def claim_file(source: str, path: str, pk: int) -> bool:
    """Claim a file in a transaction, where no unique index does: with Citus. Return whether no other post has it."""
    return get_backend().claim("file", f"{source}\n{path}", pk, has_file)


def has_file(file: str, pk: int) -> bool:
    source, _, path = file.partition("\n")
    return PostSource.objects.filter(post=pk, source=source, path=path).exists()
