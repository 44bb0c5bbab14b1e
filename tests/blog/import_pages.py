"""Uploads of zip files in the admin, for the tests of its pages."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from blog.models import ImportJob
from tests.blog.archives import SITE, build_archive
from tests.blog.import_work import finish_work

ADD = reverse("admin:blog_importjob_add")
LIST = reverse("admin:blog_importjob_changelist")


def get_url(name: str, job: ImportJob) -> str:
    return reverse(f"admin:blog_importjob_{name}", args=[job.pk])


def send_archive(client: Client, content: bytes | None = None, **values: str) -> Any:
    archive = build_archive(SITE).getvalue() if content is None else content
    file = SimpleUploadedFile("harbour.zip", archive, "application/zip")
    return client.post(ADD, {"archive": file, "source": "", "status": "published", **values})


def upload_and_check(client: Client, **values: str) -> ImportJob:
    response = send_archive(client, None, **values)
    job = ImportJob.objects.latest("pk")
    assert response["Location"] == get_url("change", job)
    finish_work()
    return job


def list_rows(page: Any) -> list[tuple[str, str, str]]:
    return [(result.path, label, result.reason) for result, label, *_ in page.context["results"]]
