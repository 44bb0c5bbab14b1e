from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from django.db import connections
from psycopg.conninfo import conninfo_to_dict

from contentapi.media.folder import FolderStorage
from tests.contentapi.db.backups.operators import IMAGE, Operator, require_success
from tests.deployment.template import get_or_create_template


@pytest.fixture(scope="package")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    operator = Operator(tmp_path_factory.mktemp("operator"), get_or_create_template(tmp_path_factory))
    yield operator
    operator.server.remove()


@pytest.fixture
def use(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that names the database of the next backup or restore in this process, and its user."""

    def use(database: str, user: str = "postgres") -> None:
        parameters = conninfo_to_dict(operator.build_url(database, user))
        monkeypatch.setattr(connections["default"], "get_connection_params", lambda: parameters)

    return use


@pytest.fixture(scope="package")
def archive(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of the database `source` and of one image, with its manifest. Tests copy it before they change it."""
    FolderStorage(operator.locate_media("source")).put(IMAGE, BytesIO(b"boat"))
    path = tmp_path_factory.mktemp("backup") / "demo.dump"
    require_success(operator.manage("source", "backup", str(path)))
    return path
