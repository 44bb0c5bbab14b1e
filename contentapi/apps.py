from django.apps import AppConfig


class ContentApiConfig(AppConfig):
    name = "contentapi"

    def ready(self) -> None:
        from contentapi.auth import checks as auth_checks  # noqa: F401 - registers itself
        from contentapi.conf import checks  # noqa: F401
