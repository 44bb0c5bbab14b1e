"""The projection engine: a selection and a QuerySet become one SQL statement, whose rows are JSON texts.

`fields` says how each field of an SDL type is said in the ORM, `selections` what is selected, `shapes` what of a
QuerySet is structure and what is value, `expressions` how PostgreSQL builds the JSON, and `statements` joins them.
"""

from contentapi.projection.fields import Computed, Count, Many, One, Projection, ProjectionError, SdlField
from contentapi.projection.queries import PreparedQuery
from contentapi.projection.selections import FieldFailed, ReadArguments, Selected
from contentapi.projection.statements import Statement, project

__all__ = [
    "Computed",
    "Count",
    "FieldFailed",
    "Many",
    "One",
    "PreparedQuery",
    "Projection",
    "ProjectionError",
    "ReadArguments",
    "SdlField",
    "Selected",
    "Statement",
    "project",
]
