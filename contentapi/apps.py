from django.apps import AppConfig


class ContentApiConfig(AppConfig):
    name = "contentapi"

    def ready(self) -> None:
        from contentapi.conf import checks  # noqa: F401 - registers them
