"""Each list of a post's fields that is written by hand has `CONTENT_FIELDS`: `make check` names what is missing.

Services, history, desk, files and search derive from it, the contracts do not. So it is with the criteria of posts.
"""

from collections.abc import Iterable

import pytest
from ariadne import convert_camel_case_to_snake
from django.conf import settings
from django.db.models import Model
from graphql import FieldNode, FragmentDefinitionNode, InputObjectTypeDefinitionNode, ObjectTypeDefinitionNode, parse

from blog.models import CONTENT_FIELDS, COVER, OPTIONAL, RENDERED, VERSIONED, Post, PostSearch
from blog.selectors.posts import LOOKUPS, PostCriteria

pytestmark = pytest.mark.thorough  # and `make check`
MODEL, SDL, SELECTORS = "blog/models/posts.py", "schema/blog.graphql", "blog/selectors/posts.py"
CONTENT = [field.name for field in CONTENT_FIELDS]
TYPES = ("Post", "CreatePostInput", "UpdatePostInput", "WorkingCopy", "SaveWorkingCopyInput")
FRAGMENTS = ("schema/resources/post.graphql", "schema/resources/workingcopy.graphql")


def list_columns(model: type[Model]) -> list[str]:
    return [field.name for field in model._meta.concrete_fields]


def read_names(path: str) -> dict[str, list[str]]:
    """Return the fields of the types, the inputs and the fragments of a file. The field `cover` has two columns."""
    named: dict[str, list[str]] = {}
    for node in parse((settings.BASE_DIR / path).read_text()).definitions:
        if isinstance(node, InputObjectTypeDefinitionNode | ObjectTypeDefinitionNode):
            fields = [field.name.value for field in node.fields or ()]
        elif isinstance(node, FragmentDefinitionNode):
            fields = [each.name.value for each in node.selection_set.selections if isinstance(each, FieldNode)]
        else:
            continue
        named[node.name.value] = [*map(convert_camel_case_to_snake, fields), *(COVER if "cover" in fields else ())]
    return named


# The columns of which a change is no version of a post
UNVERSIONED = ["id", "slug_is_chosen", "publication_order", "updated_at", "version", "changed_at", "changed_by"]
UNVERSIONED += ["changed_with", *RENDERED]
FILTERS = [name for name in PostCriteria._fields if name != "own"]
CRITERIA = [name for name in FILTERS if name not in ("status", "tag", "search")]
COPIED = ["status", "coauthor_ids", *(lookup.split("__")[0] for lookup in LOOKUPS.values())]
# What must have names, with its file; its names; those that it must have
LISTS = [
    (
        f"CONTENT_FIELDS or VERSIONED in {MODEL}, or UNVERSIONED of this test",
        [*VERSIONED, *UNVERSIONED],
        list_columns(Post),
    ),
    (f"Post in {MODEL}", list_columns(Post), CONTENT),
    *((f"{name} in {SDL}", read_names(SDL)[name], CONTENT) for name in TYPES),
    *((path, next(iter(read_names(path).values())), CONTENT) for path in FRAGMENTS),
    (f"PostFilter in {SDL}", read_names(SDL)["PostFilter"], FILTERS),
    (f"LOOKUPS in {SELECTORS}", LOOKUPS, CRITERIA),
    ("PostSearch in blog/models/search.py", list_columns(PostSearch), COPIED),
]


@pytest.mark.parametrize(("place", "names", "required"), LISTS, ids=[place for place, *_ in LISTS])
def test_no_place_lacks_a_field(place: str, names: Iterable[str], required: Iterable[str]) -> None:
    assert not {*required} - {*names}, f"Add these in {place}."


def test_columns_have_the_lengths_of_their_fields() -> None:
    lengths = {column.name: column.max_length for column in Post._meta.concrete_fields}

    assert [field.name for field in CONTENT_FIELDS if lengths[field.name] not in (None, field.longest)] == []


def test_search_finds_each_field_but_addresses_and_summaries() -> None:
    assert {field.name for field in CONTENT_FIELDS if field.weight} == {*CONTENT} - {*OPTIONAL}
