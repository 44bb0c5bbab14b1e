"""The authors of a file: the rows of those that it names, and the names of those that a post has."""

from collections.abc import Iterable, Sequence

from blog.files.syntax import InvalidFile
from blog.models import MAX_COAUTHORS, MAX_NAME, Author, Post

NO_AUTHOR = "Unknown author"  # the name of the author of files without one


def get_or_create_authors(names: Iterable[str]) -> list[Author]:
    """Return the authors with these names: the author of a post and the co-authors. Raises `InvalidFile`."""
    authors = list({author.pk: author for author in map(get_or_create_author, names)}.values())
    if len(authors) > 1 + MAX_COAUTHORS:
        raise InvalidFile(f"the file names {len(authors)} authors; at most {1 + MAX_COAUTHORS} are allowed")
    return authors


def get_or_create_author(name: str) -> Author:
    """Return the oldest author with this name. Create an author if there is none."""
    if len(name) > MAX_NAME:
        raise InvalidFile(f"the author's name has {len(name)} characters; at most {MAX_NAME}")
    return Author.objects.filter(name=name).order_by("pk").first() or Author.objects.create(name=name)


def list_author_names(post: Post) -> tuple[str, ...]:
    """Return the names of the author and the co-authors: `coauthor_names`, if these were read with the post."""
    names: Sequence[str] | None = getattr(post, "coauthor_names", None)
    if names is None:
        names = [author.name for author in Author.objects.in_order_of(post.coauthor_ids)]
    return post.author.name, *names


def get_author_names(post: Post) -> tuple[str, ...]:
    """Return the names of the author and the co-authors; those of the imported file if they mean the same."""
    names = list_author_names(post)
    source = getattr(post, "source", None)
    if source and tuple(dict.fromkeys(source.authors or [NO_AUTHOR])) == names:
        return tuple(source.authors)
    return names
