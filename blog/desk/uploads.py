"""The limits and the permissions of uploaded files: zip files of posts, and images.

The body of an upload may be larger than CONTENTAPI_MAX_BODY. The server checks who sends it before it reads the body,
and charges the request, so that nobody else can fill the disk.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.urls import reverse

from blog import policy
from blog.files.archives import MAX_ARCHIVE
from blog.models import ImageUpload
from contentapi.auth.authentication import authenticate_request
from contentapi.auth.sessions import find_session_actor
from contentapi.conf import conf
from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.http.negotiation import VERSION_PREFIX
from contentapi.http.uploads import EXCESS, FORM_OVERHEAD, Upload
from contentapi.media.receiving import is_signed


def build_uploads() -> list[Upload]:
    archive = re.compile(re.escape(reverse("admin:blog_importjob_add")))
    images = f"({re.escape(VERSION_PREFIX)})?/images"
    desk = re.escape(reverse("admin:blog_image_changelist")) + "(add|[0-9]+/replace)/"
    excess = "The zip file is too large: at most {limit:,} bytes can be uploaded. Split it."
    largest = conf.environment.contentapi_image_max_bytes
    excess_of_desk = f"The file is too large: at most {largest:,} bytes can be uploaded."
    too_large = EXCESS.format(limit=largest)
    return [
        Upload("POST", archive, MAX_ARCHIVE + FORM_OVERHEAD, find_importer, excess, is_metered=False),
        Upload("POST", re.compile(images), largest + FORM_OVERHEAD, find_uploader, too_large),
        Upload("POST", re.compile(desk), largest + FORM_OVERHEAD, find_editor, excess_of_desk, is_metered=False),
        Upload("PUT", re.compile(f"{images}/[^/]+/content"), largest + FORM_OVERHEAD, find_uploader, too_large),
        Upload("PUT", re.compile("/uploads/[0-9]+"), largest, find_announcer, too_large),
    ]


def find_permitted(
    environ: Mapping[str, Any], find_actor: Callable[[Mapping[str, Any]], Actor], may_upload: Callable[[Actor], bool]
) -> Actor | None:
    """Return the actor, or None without the permission. For an invalid credential, the page names the error."""
    try:
        actor = find_actor(environ)
    except ApiError:
        return None
    return actor if may_upload(actor) else None


find_importer = partial(find_permitted, find_actor=find_session_actor, may_upload=policy.may_import_posts)
find_editor = partial(find_permitted, find_actor=find_session_actor, may_upload=policy.may_upload_images)
find_uploader = partial(find_permitted, find_actor=authenticate_request, may_upload=policy.may_upload_images)


def find_announcer(environ: Mapping[str, Any]) -> Actor | None:
    """Return the person who has announced a file with a signed address. The address of the client pays."""
    if not is_signed(environ):
        return None
    uploads = ImageUpload.objects.filter(pk=parse_id(environ["PATH_INFO"].rpartition("/")[2]))
    owners = uploads.values_list("owner_id", flat=True)
    return Actor(owners[0]) if owners else None
