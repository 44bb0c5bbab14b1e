"""Expressions for queries: SQL literals, and what an array has. `Term` is the type of all expressions."""

from functools import partial
from typing import TypeAlias

from django.db.models import BooleanField, Expression, F, Func, IntegerField, Subquery, TextField

Term: TypeAlias = Expression | F | Subquery


class TextLiteral(Func):
    """A text constant that is part of the statement instead of a parameter: `'published'`.

    A prepared statement is planned without the values of its parameters. PostgreSQL uses a partial index only if the
    text of the statement implies the condition of the index. Never create a literal from a value of a client.
    """

    output_field = TextField()

    def __init__(self, text: str) -> None:
        quoted = text.replace("'", "''").replace("%", "%%%%")  # `Func` and then psycopg halve the number of %
        super().__init__(template=f"'{quoted}'")


# Whether an array has a value: `7 = ANY("blog_post"."coauthor_ids")`
IsInArray = partial(Func, template="%(expressions)s)", arg_joiner=" = ANY(", output_field=BooleanField())
# The place of a value in an array: `array_position("blog_post"."coauthor_ids", 7)`
ArrayPosition = partial(Func, function="array_position", output_field=IntegerField())
# Whether an array has no value: `"blog_post"."coauthor_ids" = '{}'`
IsEmptyArray = partial(Func, template="%(expressions)s = '{}'", output_field=BooleanField())
# The item at a place of an array, or NULL: `("blog_post"."image_alts")[2]`
ArrayItem = partial(Func, template="(%(expressions)s]", arg_joiner=")[")
