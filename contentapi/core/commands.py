"""What the operators' commands share: the value asked for alone on stdout, words on stderr, trouble in one message."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from contentapi.core.errors import ApiError


class OperatorCommand(BaseCommand):
    """A shell over services, whose refusals end it with their message and exit status 1."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except ApiError as trouble:
            raise CommandError(trouble.message) from None

    def info(self, words: str) -> None:
        self.stderr.write(words, str)
