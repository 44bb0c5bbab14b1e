"""The limits and the permissions of uploaded files: zip files of posts, and images.

The body of an upload may be larger than CONTENTAPI_MAX_BODY. The server checks who sends it before it reads the body,
so that nobody else can fill the disk.
"""

import re
from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from blog.files.archives import MAX_ARCHIVE
from contentapi.auth.authentication import authenticate_request
from contentapi.conf import conf
from contentapi.core import policy
from contentapi.core.errors import ApiError
from contentapi.http.api_version import VERSION_PREFIX
from contentapi.http.uploads import EXCESS, FORM_OVERHEAD
from contentapi.media.receiving import is_signed
from contentapi.server.complete_requests import Upload
from users.authentication import find_session_actor


def build_uploads() -> list[Upload]:
    archive = re.compile(re.escape(reverse("admin:blog_importjob_add")))
    images = f"({re.escape(VERSION_PREFIX)})?/images"
    desk = re.escape(reverse("admin:blog_image_changelist")) + "(add|[0-9]+/replace)/"
    excess = "The zip file is too large: at most {limit:,} bytes can be uploaded. Split it."
    largest = conf.environment.contentapi_image_max_bytes
    too_large = EXCESS.format(limit=largest)
    return [
        Upload("POST", archive, MAX_ARCHIVE + FORM_OVERHEAD, may_upload_archive, excess),
        Upload("POST", re.compile(images), largest + FORM_OVERHEAD, may_upload_image, too_large),
        Upload("POST", re.compile(desk), largest + FORM_OVERHEAD, may_upload_image_in_desk, too_large),
        Upload("PUT", re.compile(f"{images}/[^/]+/content"), largest + FORM_OVERHEAD, may_upload_image, too_large),
        Upload("PUT", re.compile("/uploads/[0-9]+"), largest, is_signed, too_large),
    ]


def may_upload_archive(environ: Mapping[str, Any]) -> bool:
    """Return whether the request has the session of a user who may import posts."""
    return policy.may_import_posts(find_session_actor(environ))


def may_upload_image_in_desk(environ: Mapping[str, Any]) -> bool:
    """Return whether the request has the session of a user who may upload images."""
    return policy.may_upload_images(find_session_actor(environ))


def may_upload_image(environ: Mapping[str, Any]) -> bool:
    """Return whether the request has the credential of a user who may upload images. The resource names the error."""
    try:
        return policy.may_upload_images(authenticate_request(environ))
    except ApiError:
        return False
