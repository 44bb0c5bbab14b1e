from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "contentapi.events"

    def ready(self) -> None:
        from contentapi.events import checks  # noqa: F401 - it registers itself
