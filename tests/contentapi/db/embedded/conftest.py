"""A data directory, and a function that starts processes that use the server in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contentapi.db.embedded.server import EmbeddedServer
from tests.contentapi.db.embedded.server_users import PROGRAM, ServerUser, StartUser
from tests.deployment.template import copy_folder


@pytest.fixture(scope="package")
def used_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory that was used before. To create one takes a second."""
    server = EmbeddedServer(tmp_path_factory.mktemp("embedded") / "postgres")
    server.acquire()
    server.release()
    return server.data


@pytest.fixture
def data_directory(used_directory: Path, tmp_path: Path) -> Path:
    copy_folder(used_directory, tmp_path / "var/postgres")
    return tmp_path / "var/postgres"


@pytest.fixture
def start_user() -> Iterator[StartUser]:
    users: list[ServerUser] = []

    def start(data_directory: Path, *arguments: str, program: str = PROGRAM) -> ServerUser:
        users.append(ServerUser(data_directory, *arguments, program=program))
        return users[-1]

    yield start
    for user in users:
        if user.process.poll() is None:
            user.finish()
