"""Expressions of the constraints of posts."""

from django.db import models
from django.db.models import Func


class IsValidPost(Func):
    """Whether a post keeps its rules: a function that migrations create. Its error names the rule.

    PostgreSQL prepares the text of a constraint again for each statement, and the body of a function once.
    """

    function = "blog_is_valid_post"
    output_field = models.BooleanField()
