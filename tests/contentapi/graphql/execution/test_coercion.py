"""Values of variables are coerced as by graphql-core, for each input type of the schema."""

from typing import Any

import pytest
from graphql import GraphQLNonNull, build_schema, is_enum_type, is_input_type, is_list_type, is_non_null_type
from graphql import is_required_input_field as is_required
from graphql.utilities import coerce_input_value
from hypothesis import given, settings
from hypothesis import strategies as st

from contentapi.graphql.execution.coercion import Coercion
from contentapi.schema import SCHEMA
from tests.thoroughness import scale_examples

OTHERS = build_schema("""
    input Tree { name: String! = "leaf", children: [Tree!], parent: Tree, size: Int! }
    input Either @oneOf { a: Int, b: String }
    enum Colour { RED GREEN }
    input Nested { either: Either, colours: [[Colour]], tree: Tree! }
""")
TYPES: list[Any] = [kind for schema in (SCHEMA, OTHERS) for kind in schema.type_map.values() if is_input_type(kind)]
NAMES = sorted({name for kind in TYPES for name in getattr(kind, "fields", ())})
EXAMPLES = {"Int": 7, "Float": 1.5, "Boolean": True, "DateTime": "2026-11-21T09:30:00Z"}  # others: "7"
LEAVES = st.sampled_from([None, True, 0, -1.5, 2**40, "", "RED", *EXAMPLES.values()])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
)


@st.composite
def draw_input(draw: st.DrawFn, kind: Any, depth: int = 0) -> Any:
    """Return a value of a type, now and then null, and now and then any other value."""
    choice = draw(st.integers(0, 19))
    if choice > 15 and not is_non_null_type(kind):
        return None
    if choice < 2 or depth > 4:
        return draw(VALUES)
    if is_list_type(kind) or is_non_null_type(kind):
        item = draw_input(kind.of_type, depth + 1)
        return draw(st.lists(item, max_size=2) if is_list_type(kind) else item)
    if is_enum_type(kind):
        return draw(st.sampled_from(sorted(kind.values)))
    fields = getattr(kind, "fields", {})
    if not fields:
        return EXAMPLES.get(kind.name, "7")
    given = draw(st.sets(st.sampled_from(sorted(fields))))
    if choice > 3:
        given |= {name for name, field in fields.items() if is_required(field)}
    value = {name: draw(draw_input(fields[name].type, depth + 1)) for name in sorted(given)}
    return value | {"unknown": 1} if choice == 2 else value


@pytest.mark.property
@settings(max_examples=scale_examples(2_000))
@given(st.data())
def test_value_becomes_what_graphql_core_makes_of_it(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(TYPES), "type")
    value = data.draw(draw_input(kind), "value")

    for each in (kind, GraphQLNonNull(kind)):
        null, coerce = Coercion.to(each)
        got, wanted = null if value is None else coerce(value), coerce_input_value(value, each)
        assert [got, type(got)] == [wanted, type(wanted)]
