"""The model of recipes. Its columns and limits are those of `Recipe` in schema/recipes.graphql."""

from datetime import UTC, datetime

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from contentapi.db.ids import SharedIdField
from contentapi.types.triggers import announce_rows

NEVER = datetime(9999, 12, 31, tzinfo=UTC)


class Course(models.TextChoices):
    STARTER = "starter"
    MAIN = "main"
    DESSERT = "dessert"


class Recipe(models.Model):
    shard_key = "id"
    id = SharedIdField("ID", primary_key=True)
    title = models.CharField(max_length=200, blank=True)
    servings = models.IntegerField()
    steps = models.CharField(max_length=20000, blank=True)
    course = models.CharField(max_length=7, choices=Course.choices)
    tags = ArrayField(models.CharField(max_length=1000), default=list, blank=True)
    cover = models.ForeignKey("blog.Image", on_delete=models.SET_NULL, related_name="+", null=True, blank=True)
    related_ids = ArrayField(models.BigIntegerField(), default=list, blank=True)
    author = models.ForeignKey("blog.Author", on_delete=models.PROTECT, related_name="+", db_index=False)
    published_at = models.DateTimeField(null=True, blank=True)
    publication_order = models.GeneratedField(
        expression=Coalesce("published_at", Value(NEVER)), output_field=models.DateTimeField(), db_persist=True
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    version = models.BigIntegerField(default=1, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(servings__gte=1, servings__lte=100), name="recipes_recipe_servings_range"
            ),
            models.CheckConstraint(condition=Q(course__in=Course.values), name="recipes_recipe_course_known"),
            models.CheckConstraint(condition=Q(tags__len__lte=100), name="recipes_recipe_tags_length"),
            models.CheckConstraint(condition=Q(related_ids__len__lte=100), name="recipes_recipe_related_ids_length"),
        ]
        indexes = [
            models.Index(fields=["created_at", "id"], name="recipes_recipe_created_at"),
            models.Index(fields=["updated_at", "id"], name="recipes_recipe_updated_at"),
            models.Index(fields=["publication_order", "id"], name="recipes_recipe_publicat_d6a370"),
            models.Index(fields=["author", "created_at", "id"], name="recipes_recipe_author"),
            GinIndex(fields=["tags"], name="recipes_recipe_tags"),
            GinIndex(fields=["related_ids"], name="recipes_recipe_related_ids"),
        ]
        triggers = announce_rows(
            "recipe",
            ["title", "servings", "steps", "course", "tags", "coverId", "relatedIds", "authorId", "publishedAt"],
            is_public=True,
            has_publication=True,
            has_author=True,
        )

    def __str__(self) -> str:
        return self.title
