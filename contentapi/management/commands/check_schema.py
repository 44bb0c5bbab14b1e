from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from graphql import GraphQLError, GraphQLSchema, build_schema

from contentapi.core.commands import OperatorCommand
from contentapi.graphql.schema_diff import list_breaking_changes, list_dangerous_changes, list_unclear_deprecations
from contentapi.schema import load_sdl

RELEASED = settings.SCHEMA_DIR / "released" / "schema.graphql"


class Command(OperatorCommand):
    help = (
        "Compare the SDL in schema/ with the released SDL, and print the changes. BREAKING changes can make valid "
        "requests fail. DANGEROUS changes keep requests valid but can change results. UNCLEAR lists each @deprecated "
        'whose reason has no date and replacement, like "2026-11-21: use `posts`." The exit status is 1 if there is a '
        "breaking change or an unclear deprecation."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        default = RELEASED.relative_to(settings.BASE_DIR)
        parser.add_argument(
            "--against",
            type=Path,
            default=RELEASED,
            metavar="FILE",
            help=f"the SDL to compare with, as GET /schema.graphql returns it; default: {default}",
        )

    def handle(self, *, against: Path, **_: Any) -> None:
        before, after = load_released_schema(against), build_schema(load_sdl())
        found = {
            "BREAKING": list_breaking_changes(before, after),
            "UNCLEAR": list_unclear_deprecations(after),
            "DANGEROUS": list_dangerous_changes(before, after),
        }
        for word, changes in found.items():
            for change in changes:
                self.stdout.write(f"{word} {change}")
        summary = ", ".join(f"{len(changes)} {word.lower()}" for word, changes in found.items())
        if found["BREAKING"] or found["UNCLEAR"]:
            raise CommandError(f"Against {against}: {summary}.")
        self.info(f"Against {against}: {summary}.")


def load_released_schema(file: Path) -> GraphQLSchema:
    try:
        return build_schema(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"Cannot read {file}: {error.strerror}.") from None
    except (GraphQLError, TypeError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} is not SDL: {str(error).splitlines()[0]}") from None
