"""The limit and the permission of uploaded zip files.

The body of an upload may be larger than CONTENTAPI_MAX_BODY. Only a user who may import posts may upload. The server
checks this before it reads the body, so that no other client can fill the disk.
"""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from blog.files.archives import MAX_ARCHIVE
from contentapi.core import policy
from contentapi.server.complete_requests import Upload
from users.authentication import find_session_actor

FORM = 100_000  # bytes of the other fields of the form


def build_archive_upload() -> Upload:
    return Upload(reverse("admin:blog_importjob_add"), MAX_ARCHIVE + FORM, may_upload_archive)


def may_upload_archive(environ: Mapping[str, Any]) -> bool:
    """Return whether the request has the session of a user who may import posts."""
    return policy.may_import_posts(find_session_actor(environ))
