"""Validate documents: graphql-core's rules and ours in one pass, with limits on the work.

`MAX_COMPLEXITY_BUDGET` and `MAX_FRAGMENT_WORK` are constants of graphql-core that applications may set. They limit the
comparisons of fields with the same response key, of which a short document can need very many.
"""

from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    MaxIntrospectionDepthRule,
    Node,
    StringValueNode,
    ValidationRule,
    specified_rules,
    validate,
)
from graphql.validation import validation_context
from graphql.validation.rules import overlapping_fields_can_be_merged

from contentapi.conf import conf
from contentapi.core.errors import LimitExceeded
from contentapi.core.unicode import is_storable
from contentapi.graphql.errors import ValidationFailed, is_schema_hidden
from contentapi.graphql.limits import build_limit_error

MAX_ERRORS = 20  # validation stops after this number of errors
MAX_INTROSPECTED_LISTS = 2  # lists of fields or types within each other, which MaxIntrospectionDepthRule allows

overlapping_fields_can_be_merged.MAX_COMPLEXITY_BUDGET = conf.environment.contentapi_max_comparisons
validation_context.MAX_FRAGMENT_WORK = conf.environment.contentapi_max_comparisons


class IntrospectionDepthRule(MaxIntrospectionDepthRule):
    """Reports the errors of `MaxIntrospectionDepthRule` as an exceeded limit."""

    def report_error(self, error: GraphQLError) -> None:
        what, most = "depth of lists in introspection", MAX_INTROSPECTED_LISTS
        error.original_error = build_limit_error(what, f"{most + 1} or more", most)
        super().report_error(error)


class StorableStringsRule(ValidationRule):
    """Rejects string literals that PostgreSQL cannot store."""

    def enter_string_value(self, node: StringValueNode, *_: Any) -> None:
        if not is_storable(node.value):
            self.report_error(GraphQLError("A string must not contain the NUL character or lone surrogates.", node))


class HiddenSchemaRule(ValidationRule):
    """Rejects the fields of introspection."""

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        name = node.name.value
        if name in {"__schema", "__type"}:
            self.report_error(GraphQLError(f"Cannot query '{name}': introspection is disabled.", node))


RULES = (
    *(IntrospectionDepthRule if rule is MaxIntrospectionDepthRule else rule for rule in specified_rules),
    StorableStringsRule,
)


def find_validation_errors(schema: GraphQLSchema, document: DocumentNode) -> list[GraphQLError]:
    """Return the errors of a document, each with its `ApiError` as `original_error`."""
    is_hidden = is_schema_hidden()
    errors = validate(
        schema,
        document,
        rules=(*RULES, HiddenSchemaRule) if is_hidden else RULES,
        max_errors=MAX_ERRORS,
        hide_suggestions=is_hidden,
        allow_empty_selection_sets=False,
    )
    most = conf.environment.contentapi_max_comparisons
    for error in errors:
        if error.nodes is None and len(errors) <= MAX_ERRORS:  # validation stopped, and not after too many errors
            what, variable = "number of comparisons", "contentapi_max_comparisons"
            error.original_error = build_limit_error(what, f"{most + 1} or more", most, variable)
        elif error.original_error is None:
            error.original_error = ValidationFailed(error.message)
        elif not isinstance(error.original_error, LimitExceeded):
            # graphql-core repeats Python's message, e.g. for a number with too many digits.
            error.original_error = ValidationFailed("This value cannot be read as its type.")
    return errors


def drop_token_links(document: DocumentNode) -> None:
    """Remove the parser's tokens from the locations of all nodes.

    A token refers to the tokens before and after it, so that each node would keep all of them in memory. Measured with
    the documents of `benchmarks.memory`, a worker with a full document cache has 101 MB without tokens and 132 MB with.
    """
    pending: list[Node] = [document]
    while pending:
        node = pending.pop()
        if node.loc is not None:
            node.loc.start_token = node.loc.end_token = None  # type: ignore[assignment]  # not used after parsing
        for name in node.keys:
            value = getattr(node, name)
            pending += [child for child in (value if isinstance(value, tuple) else (value,)) if isinstance(child, Node)]
