"""Uploads: requests whose body may be larger than CONTENTAPI_MAX_BODY, and the permission to send them.

A person who may import posts may upload a zip file to the admin site. The permission is checked before the body is
read, so that nobody else can fill the disk.
"""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from blog.archives import MAX_ARCHIVE
from contentapi.core import policy
from contentapi.server.complete_requests import Upload
from users.authentication import find_session_actor

FORM = 100_000  # bytes, for the other fields of a form


def build_archive_upload() -> Upload:
    return Upload(reverse("admin:blog_importjob_add"), MAX_ARCHIVE + FORM, may_upload_archive)


def may_upload_archive(environ: Mapping[str, Any]) -> bool:
    """Whether the session of a request belongs to a person who may import posts."""
    return policy.may_import_posts(find_session_actor(environ))
