from django.apps import AppConfig


class ContentApiConfig(AppConfig):
    name = "contentapi"

    def ready(self) -> None:
        from contentapi.auth import checks as auth_checks  # noqa: F401 - registers itself
        from contentapi.conf import checks  # noqa: F401
        from contentapi.core.errors import SCHEMA
        from contentapi.health.schema_state import SCHEMA_STATE

        SCHEMA.lacks_migrations = SCHEMA_STATE.read
