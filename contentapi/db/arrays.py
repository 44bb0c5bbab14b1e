"""Expressions of array columns: whether an array has a value, and the place of a value in it."""

from typing import Any

from django.db.models import BooleanField, Func, IntegerField, Value

from contentapi.db.literals import Term


class IsInArray(Func):
    """Whether an array has a value: `7 = ANY("blog_post"."coauthor_ids")`."""

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = BooleanField()

    def __init__(self, value: Any, array: Term) -> None:
        super().__init__(value if hasattr(value, "resolve_expression") else Value(value), array)


class ArrayPosition(Func):
    """The place of a value in an array: `array_position("blog_post"."coauthor_ids", 7)`."""

    function = "array_position"
    output_field = IntegerField()


class IsEmptyArray(Func):
    """Whether an array has no value: `"blog_post"."coauthor_ids" = '{}'`."""

    template = "%(expressions)s = '{}'"
    output_field = BooleanField()


class ArrayItem(Func):
    """The item at a place of an array, or NULL: `("blog_post"."image_alts")[2]`."""

    template = "(%(expressions)s]"
    arg_joiner = ")["
