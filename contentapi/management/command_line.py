"""The management commands: `manage.py` of a checkout, and `contentapi` of the installed package.

contentapi demo [--var FOLDER]                  what `make run` starts
contentapi manage [--var FOLDER] COMMAND ...    what `manage.py COMMAND ...` does
"""

import gc
import os
import signal
import sys
from argparse import REMAINDER, ArgumentParser
from pathlib import Path


def main() -> None:
    """Run the command `contentapi`."""
    parser = ArgumentParser(prog="contentapi", description="A schema-first content API, with its own PostgreSQL.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="start everything on PORT (8000), with demo content")
    manage = commands.add_parser("manage", help="run a management command; `contentapi manage help` lists them")
    for command in commands.choices.values():
        command.add_argument("--var", type=Path, default=find_data_folder(), help="the data (default: %(default)s)")
    manage.add_argument("arguments", nargs=REMAINDER, metavar="COMMAND ...")
    options = parser.parse_args()
    os.environ["CONTENTAPI_VAR"] = str(options.var.absolute())
    run_command(["contentapi manage", *(["serve"] if options.command == "demo" else options.arguments)])


def find_data_folder() -> Path:
    """Return CONTENTAPI_VAR, by default the folder of the user's data (XDG Base Directory Specification, macOS's)."""
    if "CONTENTAPI_VAR" in os.environ:
        return Path(os.environ["CONTENTAPI_VAR"])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "contentapi"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "contentapi"


def run_command(arguments: list[str]) -> None:
    """Run a management command. The first argument is the program. SIGTERM and SIGHUP end it as Ctrl-C does."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup sets it
            signal.signal(number, lambda received, _: sys.exit(128 + received))
    try:
        execute(arguments)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def execute(arguments: list[str]) -> None:
    """Execute the command. Report in one line an error that the operator can correct."""
    gc.disable()  # what is imported is kept: to look for garbage in it takes up to a quarter of the time of a start
    try:
        import django
        from django.core.management import execute_from_command_line
        from django.db import OperationalError, ProgrammingError
        from psycopg.errors import UndefinedTable

        from contentapi.types.fields import SdlError
    except ImportError as error:
        sys.exit(f"{error}. `make run` installs the dependencies into .venv; run .venv/bin/python manage.py.")
    try:
        django.setup()
        gc.freeze()
        gc.enable()
        execute_from_command_line(arguments)
    except SdlError as error:
        sys.exit(str(error))
    except OperationalError as error:
        hint = "\nDATABASE_URL says where it is." if os.environ.get("DATABASE_URL") else ""
        sys.exit(f"The database does not answer: {str(error).strip()}{hint}")
    except ProgrammingError as error:
        if isinstance(error.__cause__, UndefinedTable):
            sys.exit("The database has not been migrated yet: python manage.py migrate")
        raise
