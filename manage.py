#!/usr/bin/env python
"""Run a management command. `python manage.py help` lists them."""

import gc
import os
import signal
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
    # Exit as on Ctrl-C, so that resources are released.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        run()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def run() -> None:
    """Run the command. Report in one line an error that the operator can correct."""
    gc.disable()  # what is imported is kept: to look for garbage in it takes up to a quarter of the time of a start
    try:
        import django
        from django.core.management import execute_from_command_line
        from django.db import OperationalError, ProgrammingError
        from psycopg.errors import UndefinedTable
    except ImportError as error:
        sys.exit(f"{error}. `make run` installs the dependencies into .venv; run .venv/bin/python manage.py.")
    try:
        django.setup()
        gc.freeze()
        gc.enable()
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        hint = "\nDATABASE_URL says where it is." if os.environ.get("DATABASE_URL") else ""
        sys.exit(f"The database does not answer: {str(error).strip()}{hint}")
    except ProgrammingError as error:
        if isinstance(error.__cause__, UndefinedTable):
            sys.exit("The database has not been migrated yet: python manage.py migrate")
        raise


if __name__ == "__main__":
    main()
