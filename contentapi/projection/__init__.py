"""The projection engine: a selection and a QuerySet become one SQL statement, whose rows are JSON texts.

`fields` says how each field of an SDL type (`sdl`) is said in the ORM, `selections` what is selected, `shapes` which
rows, `expressions` how PostgreSQL builds the JSON, `connections` and `orders` how it does so page by page; `statements`
joins them, `inserts` writes a row and reads it at once, and `cursors` executes what comes out. `unions` reads rows that
meet one of several conditions from an index for each.
"""

from contentapi.projection.connections import PAGE_INFO, Connection, ConnectionQuery, ConnectionType, RelayType
from contentapi.projection.fields import Computed, Count, Projection, SameRow, ToMany, ToOne
from contentapi.projection.inserts import PreparedInsert, returning
from contentapi.projection.ordering import Ordering
from contentapi.projection.prepared_query import PreparedQuery
from contentapi.projection.querysets import parametrised, select_instance
from contentapi.projection.sdl import ProjectionError, SdlField
from contentapi.projection.selections import ReadArguments, SelectedField, SelectedFieldError
from contentapi.projection.statements import SelectionRequest, Statement, read_json
from contentapi.projection.unions import filter_by_union

__all__ = [
    "PAGE_INFO",
    "Computed",
    "Connection",
    "ConnectionQuery",
    "ConnectionType",
    "Count",
    "Ordering",
    "PreparedInsert",
    "PreparedQuery",
    "Projection",
    "ProjectionError",
    "ReadArguments",
    "RelayType",
    "SameRow",
    "SdlField",
    "SelectedField",
    "SelectedFieldError",
    "SelectionRequest",
    "Statement",
    "ToMany",
    "ToOne",
    "filter_by_union",
    "parametrised",
    "read_json",
    "returning",
    "select_instance",
]
