"""What a text shows of its images."""

from collections.abc import Sequence

from blog.images.addresses import build_srcset, name_file
from blog.images.formats import WEBP
from blog.models import Image
from blog.rendering import ShownImage
from contentapi.media.access import get_media_url

FALLBACK_WIDTH = 960  # of the file for programs that read no `srcset`
FALLBACK = 1  # its place in `formats`: JPEG or PNG, which every program shows


def find_shown_images(ids: Sequence[int]) -> dict[int, ShownImage]:
    """Return those of the images that are ready and not deleted, by their ids. Executes one statement."""
    images = Image.objects.filter(pk__in=ids, deleted_at=None).exclude(original="")
    return {image.pk: describe_image(image) for image in images}


def describe_image(image: Image) -> ShownImage:
    width = next((width for width in image.widths if width >= FALLBACK_WIDTH), image.widths[-1])
    name = name_file(image.pk, image.key, f"{width}.{image.formats[FALLBACK]}")
    srcset = build_srcset(image, WEBP.extension)
    return ShownImage(f"{get_media_url()}/{name}", srcset, image.width, image.height, image.alt)
