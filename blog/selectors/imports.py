"""Reads of imports."""

from django.db.models import QuerySet

from blog import policy
from blog.models import ImportJob
from contentapi.core.identity import Actor


def select_imports(actor: Actor) -> QuerySet[ImportJob]:
    """Return the imports that the actor may see: their own; for admins all."""
    return ImportJob.objects.filter(policy.visible_imports(actor))
