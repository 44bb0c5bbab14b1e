"""The projection engine: compile a selection and a QuerySet to one SQL statement whose rows are JSON texts.

Declare: `fields`, `related_rows` and `connections` state how each field of an SDL type is read; `connection_types` are
the types of pages, `ordering` the orders. `sdl` checks that a column fits its field. Compile: `selections` are the
fields that a client selects, `querysets` the rows of a selector, `nodes` rows of several types, `expressions`, `unions`
and `overlays` the SQL, `connection_compiler` that of pages, `statements` the compiler with its cache. Run: `libpq`
executes, `inserts` writes a row and reads it in the same statement, `prepared_query` is for internal queries.
"""

from contentapi.projection.connection_types import PAGE_INFO, ConnectionType, RelayType
from contentapi.projection.connections import Connection, ConnectionQuery, paginate
from contentapi.projection.expressions import FormattedFunc, RawExpression
from contentapi.projection.fields import Annotation, Computed, Projection, SameRowAsType, ToOne
from contentapi.projection.inserts import PreparedInsert
from contentapi.projection.nodes import NodeQuery, NodeType, RowInterface
from contentapi.projection.ordering import NEWEST_FIRST, OLDEST_FIRST, Ordering
from contentapi.projection.overlays import replace_columns
from contentapi.projection.prepared_query import PreparedQuery
from contentapi.projection.querysets import Rows, parametrised
from contentapi.projection.related_rows import Calculated, Count, Listed, Referred, ToMany
from contentapi.projection.sdl import ProjectionError, SdlField
from contentapi.projection.unions import Branch, UnionColumn, filter_by_union
