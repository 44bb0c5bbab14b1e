"""Ids that are unique across types: all types of the graph take theirs from one sequence.

Clients such as Relay store records by their id alone, and would confuse a post with an author of the same id.
"""

from typing import TYPE_CHECKING, Any

from django.db.models import BigAutoField

from contentapi.db.statements import fetch_column

SEQUENCE = "contentapi_id_seq"

if TYPE_CHECKING:  # a generic type in the stubs only
    Base = BigAutoField[Any, int]
else:
    Base = BigAutoField


class SharedIdField(Base):
    """A primary key whose default is the next value of the shared sequence.

    The first migration of contentapi creates the sequence: the migration of a new table depends on it.
    """

    def db_type_suffix(self, connection: Any) -> str:  # noqa: ARG002 - Django's signature
        """Return the part of a column's definition after its type; for Django's own class, that is the identity."""
        return f"DEFAULT nextval('{SEQUENCE}')"


def take_id() -> int:
    """Return the next value of the sequence: a number that nothing else has or had."""
    return int(fetch_column("SELECT nextval(%s)", [SEQUENCE])[0])
