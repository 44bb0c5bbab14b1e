from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.core.checks import Error, register


class ContentApiConfig(AppConfig):
    name = "contentapi"

    def ready(self) -> None:
        from contentapi.auth import signing_keys  # noqa: F401 - these register themselves
        from contentapi.conf.checks import DESK_TAG, START_TAG
        from contentapi.health import deployment  # noqa: F401
        from contentapi.types.differences import check_own_types

        register(check_trusted_documents, START_TAG)
        register(check_own_types, START_TAG)
        register(check_sidebar, DESK_TAG)


def check_sidebar(**_: Any) -> list[Error]:
    """Check that the SDL fits the code, and that the admin has the models of the entries of the sidebar."""
    from django.contrib import admin

    from contentapi.events.declarations import load_apps
    from contentapi.types.fields import SdlError

    try:
        import contentapi.urls  # noqa: F401 - builds the schema, and registers the pages
    except SdlError as error:
        return [Error(str(error), id="contentapi.own_types")]
    models = [entry.model for declared in load_apps() for entry in declared.sidebar]
    return [
        Error(f"The sidebar has an entry for {model}, which the admin does not show.")
        for model in models
        if not admin.site.is_registered(apps.get_model(model))
    ]


def check_trusted_documents(**_: Any) -> list[Error]:
    """Check the documents that CONTENTAPI_DOCUMENTS and CONTENTAPI_DOCUMENTS_MANIFEST select, if there are any."""
    from contentapi.conf.environment import build_error

    given = settings.ENVIRONMENT
    is_folder_used = (settings.SCHEMA_DIR / "documents").exists()
    if given.contentapi_documents == "any" and not (given.contentapi_documents_manifest or is_folder_used):
        return []  # a command need not build the schema
    from contentapi.graphql.trusted_documents import ManifestError
    from contentapi.urls import endpoint

    try:
        endpoint.load_documents()
    except ManifestError as error:
        return [build_error("CONTENTAPI_DOCUMENTS", str(error), "Correct the file, or name another one.")]
    return []
