from datetime import UTC, datetime

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from contentapi.db.ids import SharedIdField
from contentapi.types.triggers import announce_rows

NEVER_PUBLIC = datetime(9999, 12, 31, tzinfo=UTC)


class Course(models.TextChoices):
    STARTER = "starter"
    MAIN = "main"
    DESSERT = "dessert"


class Recipe(models.Model):
    shard_key = "id"
    id = SharedIdField("ID", primary_key=True)
    title = models.CharField(max_length=200)
    servings = models.IntegerField()
    steps = models.TextField()
    course = models.CharField(max_length=7, choices=Course.choices)
    tags = ArrayField(models.CharField(max_length=1000), default=list, blank=True)
    is_vegan = models.BooleanField(null=True, blank=True)
    cover = models.ForeignKey("blog.Image", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    related_ids = ArrayField(models.BigIntegerField(), default=list, blank=True)
    author = models.ForeignKey("blog.Author", on_delete=models.PROTECT, related_name="+")
    published_at = models.DateTimeField(null=True, blank=True)
    publication_order = models.GeneratedField(
        expression=Coalesce("published_at", Value(NEVER_PUBLIC)), output_field=models.DateTimeField(), db_persist=True
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    version = models.BigIntegerField(default=1, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(servings__gte=1, servings__lte=100), name="recipes_recipe_servings_range"
            ),
        ]
        indexes = [models.Index(fields=["created_at", "id"], name="recipes_recipe_created")]
        triggers = announce_rows(
            "recipe",
            [
                "title",
                "servings",
                "steps",
                "course",
                "tags",
                "is_vegan",
                "cover_id",
                "related_ids",
                "author_id",
                "published_at",
            ],
            is_public=True,
            has_publication=True,
            has_author=True,
        )

    def __str__(self) -> str:
        return self.title
