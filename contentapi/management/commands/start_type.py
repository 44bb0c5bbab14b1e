import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import CommandError

from contentapi.core.commands import OperatorCommand
from contentapi.types.declared import list_reached, load_own_types
from contentapi.types.differences import list_differences
from contentapi.types.fields import OwnType, SdlError
from contentapi.types.generation import has_migration, list_files, write_file, write_migrations, write_sdl


class Command(OperatorCommand):
    help = (
        "Write the code of an own type, which a file of schema/ declares with @type: the rest of its SDL, the model, "
        "the migration, the declaration, the fragment and a test. A file that exists stays as it is; a second run "
        "writes what is missing. Without TYPE, list the types without a table."
    )
    requires_system_checks = []  # those of a type without a table fail

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", metavar="TYPE", help="the name of the type, such as Recipe")
        parser.add_argument("--diff", action="store_true", help="print the lines that the files lack")

    def handle(self, *, name: str | None, diff: bool, **_: Any) -> None:
        try:
            types = {own.name: own for own in load_own_types()}
        except SdlError as error:
            raise CommandError(str(error)) from None
        if name is None:
            self.stdout.write("".join(f"{own.name}\n" for own in types.values() if not has_migration(own)), ending="")
        elif name not in types:
            raise CommandError(f"The files of {settings.SCHEMA_DIR.name}/ have no type {name} with @type(app: …).")
        elif diff:
            self.print_differences(types[name])
        else:
            self.write_files(types[name], types)

    def print_differences(self, own: OwnType) -> None:
        for difference in list_differences(own, is_complete=True):
            self.info(difference.message)
            if difference.lines:
                self.stdout.write("\n".join([f"# {difference.file}", *difference.lines]))

    def write_files(self, own: OwnType, types: Mapping[str, OwnType]) -> None:
        """Write the files that are missing. Migrations need the apps: another process writes them, if need be."""
        started = list_together(own, types)
        for each in started:
            require_own_app(each)
            require_tables(each, types, started)
        missing = {path: text for each in started for path, text in list_missing_files(each, types).items()}
        without = [each.app for each in started if not has_migration(each)]
        if not missing and not without:
            raise CommandError(f"{own.name} exists, with all its files.")
        for path, text in missing.items():
            self.write(path, text)
        if all(map(apps.is_installed, without)):
            for path, text in write_migrations(without).items() if without else ():
                self.write(settings.BASE_DIR / path, text)
        else:
            self.write_migrations_in_another_process(own, missing)

    def write_migrations_in_another_process(self, own: OwnType, written: Collection[Path]) -> None:
        """Raise `CommandError`, and take the apps back that this run has installed, if their models cannot be used."""
        try:
            subprocess.run([sys.executable, sys.argv[0], "start_type", own.name], check=True, cwd=settings.BASE_DIR)
        except subprocess.CalledProcessError:
            for path in written:
                if path.name == "api.py":
                    path.unlink()
            raise CommandError(f"{own.app}/models.py cannot be used: correct it, and run start_type again.") from None

    def write(self, path: Path, text: str) -> None:
        write_file(path, text)
        self.info(f"Wrote {path.relative_to(settings.BASE_DIR)}.")


def list_missing_files(own: OwnType, types: Mapping[str, OwnType]) -> dict[Path, str]:
    """Return the texts of the files that do not exist, and that of the SDL if it ends with the type."""
    files = list_files(own, settings.BASE_DIR, [*types.values()], settings.RELATED_TYPES)
    missing = {path: text for path, text in files.items() if not path.exists()}
    present = own.file.read_text("utf-8")
    if f"type {own.name}Connection " in present:
        return missing
    return {own.file: f"{present.rstrip()}\n{write_sdl(own)}", **missing}


def require_own_app(own: OwnType) -> None:
    """Raise `CommandError` if the app of a type is a package of others, or has other models."""
    folder = settings.BASE_DIR / own.app
    module = folder / "models.py"
    others = {path.name for path in folder.glob("[!._]*")} - {"api.py", "migrations"}
    has_others = f"class {own.name}(" not in module.read_text("utf-8") if module.exists() else bool(others)
    is_foreign = not folder.exists() and (find_spec(own.app) is not None or own.app in apps.app_configs)
    if has_others or is_foreign or (folder / "models").exists():
        raise CommandError(f"{own.place}: there is another package {own.app}; name another app.")


def list_together(own: OwnType, types: Mapping[str, OwnType]) -> list[OwnType]:
    """Return a type, and those without a table that it leads to and that lead back: they are started together."""
    reached = [types[name] for name in sorted(list_reached(own.name, types) & types.keys() - {own.name})]
    back = [each for each in reached if own.name in list_reached(each.name, types)]
    return [own, *(each for each in back if not has_migration(each))]


def require_tables(own: OwnType, types: Mapping[str, OwnType], started: Collection[OwnType]) -> None:
    """Raise `CommandError` if a relation leads to an own type that neither has a table nor is started now."""
    for field in own.relations:
        target = types.get(field.type_name, own)
        if target not in started and not has_migration(target):
            raise CommandError(f"{own.place}.{field.name} leads to {target.name}, which has no table: start it first.")
