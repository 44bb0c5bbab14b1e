"""How many bytes of images a user stores. The tables are those of the app `blog`, which users know by name alone."""

from typing import Any

from django.apps import apps
from django.db.models import BigIntegerField, Case, Expression, F, FloatField, OuterRef, Subquery, Sum, Value, When
from django.db.models.functions import Cast, Coalesce

from contentapi.core.identity import Actor


def build_image_bytes(_: Actor | None = None) -> Expression:
    """Return the bytes of the images of a row of users: their public files, those from which deleted images are
    restored, and what was uploaded or announced in the last 24 hours.
    """
    kept = Case(When(source__startswith="deleted/", then=F("size")), default=Value(0))
    bytes_of = {"Image": F("stored") + kept, "ImageUpload": F("size")}
    total: Any = sum((sum_bytes(model, expression) for model, expression in bytes_of.items()), start=Value(0))
    return Cast(total, FloatField())


def sum_bytes(model: str, expression: Any) -> Expression:
    rows = apps.get_model("blog", model).objects.filter(owner_id=OuterRef("pk")).order_by().values("owner_id")
    number = BigIntegerField()
    return Coalesce(Subquery(rows.annotate(total=Sum(expression)).values("total"), output_field=number), Value(0))
