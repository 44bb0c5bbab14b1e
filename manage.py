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
        from django.core.management import execute_from_command_line
        from django.db import OperationalError
    except ImportError as trouble:
        sys.exit(f"{trouble}. `make run` installs what is needed into .venv; run .venv/bin/python manage.py.")
    try:
        execute_from_command_line(sys.argv)
    except OperationalError as trouble:
        sys.exit(f"The database does not answer: {str(trouble).strip()}\nDATABASE_URL says where it is.")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
