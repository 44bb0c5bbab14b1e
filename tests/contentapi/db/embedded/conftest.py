"""A data directory, and a function that starts processes that use the server in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contentapi.db.embedded.server_users import PROGRAM, ServerUser, StartUser


@pytest.fixture
def data_directory(tmp_path: Path) -> Path:
    folder = tmp_path / "var"
    folder.mkdir()
    return folder / "postgres"


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
