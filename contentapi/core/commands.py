"""The base class of the management commands: results on stdout, messages on stderr, errors in one line."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from contentapi.core.errors import ApiError


class OperatorCommand(BaseCommand):
    """A command that calls a service. An `ApiError` ends it with its message and exit status 1."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except ApiError as error:
            raise CommandError(error.message) from None

    def info(self, message: str) -> None:
        self.stderr.write(message, str)
