"""What the scripts of the editor ask about images: a page of the library to choose from, their texts, their state."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from blog import selectors, services
from blog.desk.images.library import THUMBNAIL, get_variant_url, render_thumbnail, search_images
from blog.models import Image, ImageStatus
from contentapi.auth.sessions import get_actor
from contentapi.conf import conf
from contentapi.core.errors import ApiError
from contentapi.core.pagination import parse_id
from contentapi.core.text import require_storable
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.lists import BoundedPaginator
from contentapi.desk.rendering import describe_error

CHOICES = 24  # images of one page
MOST = 100  # images that are described at a time


def describe_tools() -> dict[str, Any]:
    """Return what the scripts need: the address of the pages of images, the types of files and the limit in bytes."""
    return {
        "address": reverse("admin:blog_image_changelist"),
        "types": ",".join(services.CONTENT_TYPES),
        "limit": conf.environment.contentapi_image_max_bytes,
    }


@never_cache
@require_GET
def show_choice(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Return a page of the images that a post can use, the newest first, as HTML for the dialog of a script."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    text = request.GET.get("q", "")
    images = search_images(Image.objects.filter(deleted_at=None), text).exclude(status=ImageStatus.REJECTED)
    pages: Paginator[Image] = BoundedPaginator(images.order_by("-created_at", "-id"), CHOICES)
    page = pages.get_page(request.GET.get("page", ""))
    context = {"images": [(image, render_thumbnail(image)) for image in page], "page": page, "text": text}
    return render(request, "blog/image_choice.html", context)


@never_cache
@require_GET
def describe_images(request: HttpRequest, model_admin: PolicyAdmin) -> JsonResponse:
    """Return the images with some ids. Those that do not exist are left out."""
    ids = [parse_id(part) for part in request.GET.get("ids", "").split(",")[:MOST]]
    return JsonResponse(
        {"images": [describe_image(image) for image in selectors.images.find_images(get_actor(request), ids)]}
    )


@require_POST
def save_alt(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> JsonResponse:
    """Change the text of an image, which a person types beside the progress of its upload."""
    try:
        changes = {"alt": request.POST.get("alt", "")}
        require_storable(changes)
        image = services.edit_image(actor=get_actor(request), image_id=object_id, changes=changes)
    except ApiError as error:
        return JsonResponse({"problem": describe_error(error)}, status=error.status)
    return JsonResponse({"image": describe_image(image)})


def describe_image(image: Image) -> dict[str, Any]:
    return {
        "id": str(image.pk),
        "name": image.name,
        "alt": image.alt,
        "isWaiting": image.source != "",
        "problem": image.rejection or "",
        "thumbnail": get_variant_url(image, THUMBNAIL),
        "focalX": image.focal_x,
        "focalY": image.focal_y,
    }
