from django.apps import AppConfig
from django.core.checks import register


class BlogConfig(AppConfig):
    name = "blog"
    verbose_name = "Content"

    def ready(self) -> None:
        from blog.checks import check_lists_of_fields
        from contentapi.conf.checks import ENVIRONMENT_TAG

        register(check_lists_of_fields, ENVIRONMENT_TAG)
