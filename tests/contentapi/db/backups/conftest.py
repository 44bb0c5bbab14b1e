from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contentapi.db.backups.operators import Operator, require_success


@pytest.fixture(scope="package")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    operator = Operator(tmp_path_factory.mktemp("operator"))
    yield operator
    operator.server.finish()


@pytest.fixture(scope="package")
def archive(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of the database `source`, with its manifest. Tests copy it before they change it."""
    path = tmp_path_factory.mktemp("backup") / "demo.dump"
    require_success(operator.manage("source", "backup", str(path)))
    return path
