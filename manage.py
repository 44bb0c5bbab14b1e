#!/usr/bin/env python
"""The operators' commands. `python manage.py help` lists them."""

import os
import signal
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
    # Ends as Ctrl-C does, so that what must be let go of is let go of.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        run()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def run() -> None:
    """Run the command; say in a line what an operator can mend."""
    try:
        from django.core.management import execute_from_command_line
        from django.db import OperationalError, ProgrammingError
        from psycopg.errors import UndefinedTable
    except ImportError as trouble:
        sys.exit(f"{trouble}. `make run` installs what is needed into .venv; run .venv/bin/python manage.py.")
    try:
        execute_from_command_line(sys.argv)
    except OperationalError as trouble:
        where = "\nDATABASE_URL says where it is." if os.environ.get("DATABASE_URL") else ""
        sys.exit(f"The database does not answer: {str(trouble).strip()}{where}")
    except ProgrammingError as trouble:
        if isinstance(trouble.__cause__, UndefinedTable):
            sys.exit("The database has not been migrated yet: python manage.py migrate")
        raise


if __name__ == "__main__":
    main()
