from typing import Any

from django.apps import AppConfig
from django.core.checks import Error, register


class ContentApiConfig(AppConfig):
    name = "contentapi"

    def ready(self) -> None:
        from contentapi.auth import checks as auth_checks  # noqa: F401 - these register themselves
        from contentapi.conf.checks import START_TAG
        from contentapi.core.errors import SCHEMA
        from contentapi.desk.webhooks import admin  # noqa: F401
        from contentapi.health import database_checks, host_checks  # noqa: F401
        from contentapi.health.readiness import lacks_migrations

        register(check_trusted_documents, START_TAG)
        SCHEMA.lacks_migrations = lacks_migrations


def check_trusted_documents(**_: Any) -> list[Error]:
    """Check the documents that CONTENTAPI_DOCUMENTS and CONTENTAPI_DOCUMENTS_MANIFEST select."""
    from contentapi.conf.environment import build_error
    from contentapi.graphql.trusted_documents import ManifestError
    from contentapi.urls import endpoint

    try:
        endpoint.load_documents()
    except ManifestError as error:
        hint = "Correct the file, or name another one."
        return [build_error("CONTENTAPI_DOCUMENTS", str(error), hint)]
    return []
