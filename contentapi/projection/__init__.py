"""The projection engine: a selection and a QuerySet become one SQL statement, whose rows are JSON texts.

`fields` says how each field of an SDL type (`sdl`) is said in the ORM, `selections` what is selected, `shapes` which
rows, `expressions` how PostgreSQL builds the JSON, `connections` and `orders` how it does so page by page; `statements`
joins them, `inserts` writes a row and reads it at once, and `cursors` executes what comes out. `unions` reads rows that
meet one of several conditions from an index for each.
"""

from contentapi.projection.connections import PAGE_INFO, Connected, Connection, ConnectionType, PrescribedType
from contentapi.projection.fields import Computed, Count, Itself, Many, One, Projection
from contentapi.projection.inserts import PreparedInsert, Returning
from contentapi.projection.ordering import Order
from contentapi.projection.prepared_query import PreparedQuery
from contentapi.projection.querysets import by_shape, row_of
from contentapi.projection.sdl import ProjectionError, SdlField
from contentapi.projection.selections import FieldFailed, ReadArguments, Selected
from contentapi.projection.statements import Reading, Statement, project
from contentapi.projection.unions import filter_by_union

__all__ = [
    "PAGE_INFO",
    "Computed",
    "Connected",
    "Connection",
    "ConnectionType",
    "Count",
    "FieldFailed",
    "Itself",
    "Many",
    "One",
    "Order",
    "PreparedInsert",
    "PreparedQuery",
    "PrescribedType",
    "Projection",
    "ProjectionError",
    "ReadArguments",
    "Reading",
    "Returning",
    "SdlField",
    "Selected",
    "Statement",
    "by_shape",
    "filter_by_union",
    "project",
    "row_of",
]
