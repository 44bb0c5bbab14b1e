"""Count the images for the metrics of the worker."""

from django.db.models import Count, Q, Sum

from blog.models import Image, ImageStatus
from contentapi.monitoring.figures import FIGURES


def count_images() -> None:
    """Count the images by status, and the bytes of their public files, if somebody reads the metrics."""
    if FIGURES.is_enabled:
        numbers = {status: Count("pk", filter=Q(status=status)) for status in ImageStatus.values}
        found = Image.objects.filter(deleted_at=None).aggregate(size=Sum("stored", default=0), **numbers)
        statuses = (("contentapi_images", (status,), found[status]) for status in ImageStatus.values)
        FIGURES.measured["images"] = [*statuses, ("contentapi_image_bytes", (), int(found["size"]))]
