"""Documents of GraphQL for the actions of the permission table."""

from typing import Any

from tests.contract.worlds import World


def input_document(mutation: str, selection: str, **values: Any) -> tuple[str, dict[str, Any], None]:
    """Return a mutation whose only argument is an input with the name of the mutation."""
    kind = f"{mutation[0].upper()}{mutation[1:]}Input"
    return f"mutation ($input: {kind}!) {{ {mutation}(input: $input) {{ {selection} }} }}", {"input": values}, None


def copy_document(
    world: World, action: str, selection: str, status: str = "published", **values: Any
) -> tuple[str, dict[str, Any], None]:
    return input_document(f"{action}WorkingCopy", selection, postId=world.post_id(status), **values)


def link_document(world: World, **values: Any) -> tuple[str, dict[str, Any], None]:
    return input_document("createPreviewLink", "previewLink { id }", postId=world.post_id("published"), **values)


def object_document(field: str, id_: object) -> tuple[str, dict[str, Any], None]:
    return f"query ($id: ID!) {{ {field}(id: $id) {{ id }} }}", {"id": str(id_)}, None
