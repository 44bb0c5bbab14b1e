"""Expressions of the constraints of posts. Of forms with one meaning, these cost an INSERT the least."""

from django.db import models
from django.db.models import Func

COUNT_BYTES = Func("body", function="octet_length", output_field=models.IntegerField())
COUNT_TAGS = Func("tags", function="cardinality", output_field=models.IntegerField())


class IsUniqueTagList(Func):
    """Whether a text array has only unique, non-empty strings: a SQL function that the first migration creates."""

    function = "blog_is_set_of_words"
    output_field = models.BooleanField()


class IsOneOf(Func):
    """Whether a text is one of some words, as a constant: PostgreSQL prepares conditions again for each statement."""

    template = "%(expressions)s = ANY('{%(words)s}'::text[])"
    output_field = models.BooleanField()
