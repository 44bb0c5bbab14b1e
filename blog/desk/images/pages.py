"""The pages beside the list and the form of images: the choice of one for a post, texts and states, and uploads.

Scripts read most of them. The script of uploads (blog/static/blog/images.js) sends one file in each request. Without
it, a form sends one or several.
"""

from collections.abc import Sequence
from functools import partial
from typing import IO, Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from blog import selectors, services
from blog.desk.images.library import THUMBNAIL, get_variant_url, render_thumbnail, search_images
from blog.models import Image, ImageStatus
from contentapi.auth.sessions import get_actor
from contentapi.conf import conf
from contentapi.core.errors import ApiError, Malformed
from contentapi.core.pagination import parse_id
from contentapi.core.text import require_storable
from contentapi.db.engine.slots import enter_expensive_lane
from contentapi.desk.bases import PolicyAdmin
from contentapi.desk.lists import BoundedPaginator
from contentapi.desk.rendering import describe_error
from contentapi.http.uploads import SentFile, describe_file

CHOICES = 24  # images of one page
MOST = 100  # images that are described at a time
LIST = "admin:blog_image_changelist"
NO_FILE = "Choose a file."


def describe_tools() -> dict[str, Any]:
    """Return what the scripts need: the address of the pages of images, the types of files and the limit in bytes."""
    return {
        "address": reverse(LIST),
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
    images = selectors.images.find_images(get_actor(request), ids)
    return JsonResponse({"images": [describe_image(image) for image in images]})


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


def show_upload(request: HttpRequest, model_admin: PolicyAdmin) -> HttpResponse:
    """Show the page of an upload, or store the files that were sent."""
    if not model_admin.may_add(get_actor(request)):
        raise PermissionDenied
    if request.method == "POST":
        files = request.FILES.getlist("file")
        if request.accepts("application/json") and not request.accepts("text/html"):
            return respond_to_script(request, model_admin, files)
        if store_files(request, model_admin, files):
            return HttpResponseRedirect(reverse(LIST))
    used = services.image_room.measure_images(get_actor(request).user_id)
    context = {"title": "Upload images", "tools": describe_tools(), "used": used}
    context["quota"] = conf.environment.contentapi_image_quota
    return model_admin.render(request, "admin/blog/image/upload.html", context)


def respond_to_script(request: HttpRequest, model_admin: PolicyAdmin, files: Sequence[Any]) -> JsonResponse:
    """Store the only file. Return its image, or what is wrong with it."""
    try:
        if len(files) != 1:
            raise Malformed(NO_FILE)
        return JsonResponse({"image": describe_image(store_file(request, model_admin, files[0]))}, status=201)
    except ApiError as error:
        return JsonResponse({"problem": describe_error(error)}, status=error.status)


def store_files(request: HttpRequest, model_admin: PolicyAdmin, files: Sequence[Any]) -> bool:
    """Store files, and say which of them are no images. Return whether all of them are."""
    problems = [] if files else [NO_FILE]
    for file in files:
        try:
            store_file(request, model_admin, file)
        except ApiError as error:
            problems.append(f"{file.name}: {describe_error(error)}")
    for problem in problems:
        messages.error(request, problem)
    return not problems


def store_file(request: HttpRequest, model_admin: PolicyAdmin, file: Any) -> Image:
    name = request.POST.get("name", "")  # as the script has it: Django removes joiners of scripts from that of a file
    image = services.create_image(actor=get_actor(request), read_file=partial(measure_file, file, name))
    model_admin.log_addition(request, image, "Uploaded.")
    return image


def measure_file(file: IO[bytes], name: str = "") -> SentFile:
    """Return a file of a form with its size and its SHA-256. Raises `TooLarge`."""
    enter_expensive_lane()  # storing a file may take long: other requests keep their slots
    shown = services.images.shorten_file_name(name or file.name or "")
    return describe_file(file, shown, conf.environment.contentapi_image_max_bytes)


@require_POST
def replace_file(request: HttpRequest, model_admin: PolicyAdmin, object_id: str) -> HttpResponse:
    """Give an image another file, and show the image."""
    image, file = model_admin.get_editable(request, object_id), request.FILES.get("file")
    if file is None:
        raise Malformed(NO_FILE)
    services.replace_image_file(actor=get_actor(request), image_id=str(image.pk), read_file=partial(measure_file, file))
    model_admin.message_user(request, "The new file is being processed. Readers see the present one until then.")
    model_admin.log_change(request, image, "Replaced the file.")
    return HttpResponseRedirect(reverse("admin:blog_image_change", args=[image.pk]))
