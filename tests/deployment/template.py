"""A migrated PostgreSQL with the demo content, which is created once for a test run, and copied by the tests.

`python -m tests.deployment.template FOLDER` creates one for several runs, which find it in `TESTS_TEMPLATE`.
"""

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from contentapi.db.embedded.server import EmbeddedServer
from tests.deployment.postgresql import TEST_SETTINGS, PostgresServer
from tests.deployment.processes import inherit_environment, run_manage
from tests.migrated_database import name_migrated_database

if TYPE_CHECKING:
    import pytest

GIVEN = "TESTS_TEMPLATE"
# Its images are processed once here, and not by the worker of each server.
LOAD_DEMO = """
from threading import Event
from django.core.management import call_command
from blog import services
from contentapi.core.identity import WORKER
call_command("load_demo")
services.image_processing.process_images(actor=WORKER, stop=Event())
services.render_posts(Event())
"""


class Template:
    """The folder `var` of a checkout that has run once; its server is stopped.

    It has the database "postgres", which the embedded server serves, and the copy "contentapi" for other servers. The
    tests of a checkout that gets a copy of the data use a third one, which has no content.
    """

    def __init__(self, var: Path) -> None:
        self.var = var
        self.data = var / "postgres"

    @property
    def key(self) -> str:
        """The API key of the admin of the demo."""
        return (self.var / "demo_api_key").read_text().strip()

    def copy(self, folder: Path) -> None:
        copy_folder(self.var, folder)

    def copy_data(self, folder: Path, **settings: str) -> PostgresServer:
        """Copy the data of PostgreSQL only. Return a server on a port of its own, which is not started."""
        copy_folder(self.data, folder)
        server = PostgresServer(folder, settings=settings)
        server.grant_access()
        return server

    def copy_replica(self, folder: Path, primary: PostgresServer) -> PostgresServer:
        """Copy the data for a streaming replica of another copy. Return a server, which is not started."""
        server = self.copy_data(folder)
        server.follow(primary)
        return server

    def create(self) -> None:
        self.var.mkdir(parents=True)
        PostgresServer(self.data).initialize("--wal-segsize=1")
        with (self.data / "postgresql.conf").open("a") as configuration:
            configuration.write("# For tests\n")  # .ci/copy_database removes it, and what follows
            configuration.writelines(f"{name} = {value}\n" for name, value in TEST_SETTINGS.items())
        server = EmbeddedServer(self.data)
        address = server.acquire()
        try:
            self.manage("migrate", "--noinput", "--verbosity", "0")
            self.copy_database(address, name_migrated_database())
            self.manage("shell", "--verbosity", "0", "-c", LOAD_DEMO)
            self.copy_database(address, "contentapi")
        finally:
            server.release()

    def copy_database(self, address: str, name: str) -> None:
        with psycopg.connect(host=address, user="postgres", dbname="template1", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE postgres STRATEGY file_copy".encode())

    def manage(self, *arguments: str) -> None:
        run_manage({**inherit_environment(), "CONTENTAPI_VAR": str(self.var)}, *arguments)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder that does not exist yet, with the owners of its files: PostgreSQL requires them."""
    assert not target.exists()
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


def get_or_create_template(tmp_path_factory: "pytest.TempPathFactory") -> Template:
    """Return the given template, or that of this test run, which the first process that needs it creates."""
    if given := os.environ.get(GIVEN):
        return Template(Path(given))
    base = tmp_path_factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    template = Template(run / "template" / "var")
    with (run / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        created = run / "template.created"
        if not created.exists():
            template.create()
            created.touch()
    return template


if __name__ == "__main__":
    Template(Path(sys.argv[1])).create()
