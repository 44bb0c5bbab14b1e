"""Count the images for the metrics of the worker."""

from django.db.models import Count, Sum

from blog.models import Image, ImageStatus
from contentapi.monitoring.figures import FIGURES, Sample

SAMPLES: list[Sample] = []  # of the last count


def count_images() -> None:
    """Count the images by status, and the bytes of their public files, if somebody reads the metrics."""
    if not FIGURES.is_enabled:
        return
    rows = Image.objects.filter(deleted_at=None).values("status").annotate(number=Count("pk"), size=Sum("stored"))
    found = {row["status"]: row for row in rows}
    numbers = {status.value: found[status]["number"] if status in found else 0 for status in ImageStatus}
    size = sum(int(row["size"]) for row in found.values())
    SAMPLES[:] = [
        *(("contentapi_images", (status,), number) for status, number in numbers.items()),
        ("contentapi_image_bytes", (), size),
    ]


FIGURES.gauge_sources.append(lambda: SAMPLES)
