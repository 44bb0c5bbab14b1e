"""Checks the operations of the typed client. `make clients` compiles and executes them."""

from typing import Any

from graphql import (
    FieldNode,
    GraphQLObjectType,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    is_interface_type,
    is_object_type,
    parse,
    validate,
    visit,
)

from contentapi.schema import SCHEMA
from tests.content import SELECTION
from tests.contract.own_types import OWN_NAMES
from tests.deployment.processes import ROOT

CLIENT = ROOT / "tests/clients/javascript/graphql-codegen"
CONTENT = "\n".join(f"fragment {kind}Content on {kind} {{ {SELECTION} }}" for kind in ("Post", "WorkingCopy"))
OPERATIONS = parse((CLIENT / "operations.graphql").read_text() + CONTENT)


class Selected(Visitor):
    """Collects the fields that a document selects, as `Type.field`. Those of an interface are of all its types."""

    def __init__(self, types: TypeInfo) -> None:
        super().__init__()
        self.types = types
        self.fields: set[str] = set()

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        parent = self.types.get_parent_type()
        shown = SCHEMA.get_possible_types(parent) if is_interface_type(parent) else [parent]
        self.fields |= {f"{kind}.{node.name.value}" for kind in shown}


def test_client_operations_select_every_field_of_the_schema() -> None:
    selected = Selected(TypeInfo(SCHEMA))
    visit(OPERATIONS, TypeInfoVisitor(selected.types, selected))

    types = [kind for name, kind in SCHEMA.type_map.items() if is_object_type(kind) and not name.startswith("__")]
    fields = {f"{kind}.{name}" for kind in types if isinstance(kind, GraphQLObjectType) for name in kind.fields}
    assert validate(SCHEMA, OPERATIONS) == []
    missing = fields - selected.fields
    assert {name for name in missing if OWN_NAMES.isdisjoint(name.split("."))} == set()
