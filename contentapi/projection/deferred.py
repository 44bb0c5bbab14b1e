"""Nested rows that a distributed database reads by a statement of their own, once for each row that they belong to.

Citus joins posts to the rows of their own shard only: no statement reads the posts of each author of a list. There, the
statement of the list has a marker in the place of such a field, which names the field and the row:

    {"id":"7","name":"Anna","posts":{"~0":7}}

The marker is replaced by the JSON that the statement of the field returns for this row. No text of a client is a
marker: its quotes would have backslashes, and the name of a field of GraphQL has no tilde.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

from django.core.exceptions import EmptyResultSet
from django.db.models import BigIntegerField, Expression, F, JSONField, Model
from django.db.models.functions import Cast
from django.db.models.sql import Query

from contentapi.db.citus.shards import bind_key
from contentapi.db.distribution import is_distributed
from contentapi.db.placement import list_shard_keys
from contentapi.projection.expressions import FormattedFunc
from contentapi.projection.selections import Parameter, SelectedField

MARKER = re.compile(rb'\{"~(\d+)":(\d+)\}')
CONDITION = " = (%s)::bigint"
KEY = re.compile(rf'(\w+\."id"){re.escape(CONDITION)}')  # of the one row that a field has, as the object of an event
LIST = "array_to_json(ARRAY("  # the beginning of a `JsonArray`


class DeferredField(NamedTuple):
    """The statement of a field: its rows are JSON, those of a list or one. The context has what it left out itself."""

    sql: str
    parameters: Sequence[Any]
    compilation: Any  # a `CompilationContext`
    is_list: bool


class ParentQuery(Query):
    """The query of the rows to which nested ones belong. Their references to it read the number in a marker."""

    column = ""

    def resolve_ref(self, name: str, *_: Any, **__: Any) -> Expression:
        if self.column not in ("", name):
            raise TypeError(f"The rows depend on {self.column} and {name}, and a marker has one number.")
        self.column = name
        return Cast(Parameter(lambda inputs: inputs.parent), BigIntegerField())


class Marker(FormattedFunc):
    """The marker of a field with a number, by the key of the row; null if the key is null."""

    output_field = JSONField()

    def __init__(self, number: int, key: F) -> None:
        super().__init__(key)
        self.template = f"""('{{{{"~{number}":' || {{0}} || '}}}}')::json"""


def must_defer(model: type[Model], projection: Any) -> bool:
    """Return whether a field of the rows of a model needs a statement of its own. `projection` is that of its type."""
    target = getattr(projection, "model", None)
    if target is None or not is_distributed():
        return False
    own, other = (list_shard_keys().get(each._meta.db_table) for each in (model, target))
    if hasattr(projection, "edge"):  # Citus reads a page for one row only
        return True
    return other is not None if own is None else own == "" and bool(other)


def defer(field: Any, selected: SelectedField, compilation: Any, model: type[Model]) -> Marker:
    """Compile a field for one row, add it to the deferred ones, and return its marker. Raises `SelectedFieldError`."""
    own = copy(compilation)
    own.arguments = []
    own.deferred = []
    query = ParentQuery(model)
    expression = field.build_expression(selected, own).resolve_expression(query)
    try:
        sql, parameters = query.get_compiler("default").compile(expression)
        if keys := KEY.findall(sql):
            sql, parameters = bind_key(keys[-1], CONDITION, sql, parameters)
    except EmptyResultSet:  # the actor may see no row
        sql, parameters = "NULL", ()
    is_list = sql.startswith(LIST)
    text = sql.removeprefix(LIST)[:-2] if is_list else select_value(sql)
    compilation.deferred.append(DeferredField(text, parameters, own, is_list))
    return Marker(len(compilation.deferred) - 1, F(query.column or "pk"))


def select_value(sql: str) -> str:
    """Return the statement of an expression, which is a subquery usually."""
    return sql[1:-1] if sql.startswith("(SELECT ") else f"SELECT {sql}"
