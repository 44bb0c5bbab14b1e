"""Django database engine for the embedded server of this checkout, whose data are under var/."""

from typing import Any

from django.conf import settings
from psycopg import OperationalError

from contentapi.db.embedded.server import PORT, EmbeddedServer
from contentapi.db.engine import base
from contentapi.db.watch.link import DatabaseSilent

SERVER = EmbeddedServer(settings.VAR_DIR / "postgres")


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "host": SERVER.acquire(), "port": PORT}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect. Start the server again if it was killed."""
        try:
            return super().get_new_connection(conn_params)
        except DatabaseSilent:  # it runs, and hangs
            raise
        except OperationalError:
            if not SERVER.restart_if_down():
                raise
            return super().get_new_connection({**conn_params, "host": SERVER.acquire()})
