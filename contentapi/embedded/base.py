"""Django's PostgreSQL engine, on the server that this checkout keeps under var/."""

from typing import Any

from django.conf import settings
from django.db.backends.postgresql import client

from contentapi.embedded.server import PORT, PROGRAMS, EmbeddedServer
from contentapi.postgresql import base

SERVER = EmbeddedServer(settings.VAR_DIR / "postgres")


class DatabaseClient(client.DatabaseClient):
    """`manage.py dbshell` with the psql that comes with the server."""

    executable_name = str(PROGRAMS / "psql")

    @classmethod
    def settings_to_cmd_args_env(
        cls, settings_dict: dict[str, Any], parameters: Any
    ) -> tuple[list[str], dict[str, str] | None]:
        return super().settings_to_cmd_args_env({**settings_dict, "HOST": SERVER.hold(), "PORT": str(PORT)}, parameters)


class DatabaseWrapper(base.DatabaseWrapper):
    client_class = DatabaseClient

    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "host": SERVER.hold(), "port": PORT}
