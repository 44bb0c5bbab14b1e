from typing import Any

from django.apps import AppConfig
from django.core.checks import Error, register


class BlogConfig(AppConfig):
    name = "blog"
    verbose_name = "Content"

    def ready(self) -> None:
        from contentapi.conf.checks import START_TAG

        register(check_lists_of_fields, START_TAG)


def check_lists_of_fields(**_: Any) -> list[Error]:
    """Compare lists of fields. Only a process that checks imports the whole app."""
    from blog.checks import list_errors

    return list_errors()
