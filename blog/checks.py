"""Compare the lists of a post's fields that are written by hand with `CONTENT_FIELDS`, from which all others derive.

Services, history, desk, files and search derive from it. The contracts do not. A place that lacks a field is an error
at the start, which names the field and the file. The same holds for the criteria of posts.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ariadne import convert_camel_case_to_snake
from django.conf import settings
from django.core.checks import Error
from django.db.models import Model
from graphql import FieldNode, InputObjectTypeDefinitionNode, ObjectTypeDefinitionNode, parse

from blog.models import CONTENT, CONTENT_FIELDS, COVER, OPTIONAL, UNVERSIONED, VERSIONED, Post, PostSearch
from blog.selectors import LOOKUPS, PostCriteria

MODEL = "blog/models/posts.py"
SDL = "schema/blog.graphql"
FRAGMENTS = {
    "PostResource": "schema/resources/post.graphql",
    "WorkingCopyResource": "schema/resources/workingcopy.graphql",
}


class FieldList(NamedTuple):
    """A list that must have some names: what it is, the file that has it, and its names."""

    title: str
    file: str
    names: Iterable[str]
    required: Iterable[str] = CONTENT


def list_errors() -> list[Error]:
    """Return an error for each name that a list lacks, and for fields that the code cannot handle."""
    errors = [
        Error(f"{title} lacks {name}.", hint=f"Add it in {file}.", id="blog.E001")
        for title, file, names, required in list_lists_of_fields()
        for name in required
        if name not in names
    ]
    lengths = {column.name: column.max_length for column in Post._meta.concrete_fields}  # noqa: SLF001 - public
    errors += [
        Error(f"The column {field.name} has another length than CONTENT_FIELDS.", hint=f"See {MODEL}.", id="blog.E005")
        for field in CONTENT_FIELDS
        if lengths.get(field.name) not in (None, field.longest)
    ]
    if any((field.name in OPTIONAL) == bool(field.weight) for field in CONTENT_FIELDS):
        errors.append(Error("Search finds every field of the content but addresses and summaries.", id="blog.E004"))
    return errors


def list_lists_of_fields() -> Iterator[FieldList]:
    columns = list_columns(Post)
    types = read_types()
    listed = [*VERSIONED, *UNVERSIONED]
    yield FieldList("CONTENT_FIELDS, VERSIONED or UNVERSIONED", MODEL, listed, columns)
    yield FieldList("The model Post", MODEL, columns)
    for name in ("Post", "CreatePostInput", "UpdatePostInput", "WorkingCopy", "SaveWorkingCopyInput"):
        yield FieldList(f"The type {name}", SDL, types[name])
    for name, path in FRAGMENTS.items():
        yield FieldList(f"The fragment {name}", path, read_fragment(path))
    yield FieldList("The type PostFilter", SDL, types["PostFilter"], PostCriteria._fields)
    criteria = [name for name in PostCriteria._fields if name not in ("status", "tag", "search")]
    yield FieldList("LOOKUPS", "blog/selectors/posts.py", LOOKUPS, criteria)
    filtered = [lookup.split("__")[0] for lookup in LOOKUPS.values()]
    copies = ["status", "coauthor_ids", *filtered]
    yield FieldList("The search index PostSearch", "blog/models/search.py", list_columns(PostSearch), copies)


def list_columns(model: type[Model]) -> list[str]:
    return [field.name for field in model._meta.concrete_fields]  # noqa: SLF001 - a public name of Django


def read_types() -> dict[str, list[str]]:
    """Return the fields of the types and inputs of the SDL, in snake case."""
    definitions = parse((settings.SCHEMA_DIR / "blog.graphql").read_text()).definitions
    return {
        definition.name.value: list_names(field.name.value for field in definition.fields or ())
        for definition in definitions
        if isinstance(definition, InputObjectTypeDefinitionNode | ObjectTypeDefinitionNode)
    }


def read_fragment(path: str) -> list[str]:
    """Return the fields of a representation."""
    fragment: Any = parse((settings.BASE_DIR / path).read_text()).definitions[0]
    return list_names(node.name.value for node in fragment.selection_set.selections if isinstance(node, FieldNode))


def list_names(fields: Iterable[str]) -> list[str]:
    """Return the names of fields in snake case. The field `cover` is the image and its text."""
    names = [*map(convert_camel_case_to_snake, fields)]
    return [*names, *COVER] if "cover" in names else names
