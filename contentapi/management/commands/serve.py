"""Migrate, load the demo, and serve: what `make run` does once everything is installed."""

import os
import socket
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from contentapi import demo

ONE_AT_A_TIME = "SELECT pg_advisory_lock(hashtext('contentapi.serve'))"


class Command(BaseCommand):
    help = "Migrate the database, load the demo, and start gunicorn on PORT. A deployment runs the Procfile instead."

    def handle(self, *_: Any, **__: Any) -> None:
        require_free_port()
        with connection.cursor() as cursor:  # two at once: the second finds the work done
            cursor.execute(ONE_AT_A_TIME)
        call_command("migrate", verbosity=0, interactive=False)
        demo.load()
        demo.make_credentials()
        os.environ["CONTENTAPI_GREETING"] = "on"
        os.chdir(settings.BASE_DIR)
        # In the place of this process, so that Ctrl-C and signals reach the server itself. The lock ends with it.
        os.execv(
            sys.executable,
            [sys.executable, "-m", "gunicorn", "--config", "contentapi/gunicorn.py", "contentapi.wsgi"],
        )


def require_free_port() -> None:
    host, _, port = settings.BIND.rpartition(":")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError as trouble:
            raise CommandError(
                f"Port {port} cannot be used: {trouble.strerror}. Choose another: make run PORT={int(port) % 65535 + 1}"
            ) from None
