from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from contentapi.media.folder import FolderStorage
from tests.contentapi.db.backups.operators import IMAGE, Operator, require_success
from tests.deployment.template import get_or_create_template


@pytest.fixture(scope="package")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    operator = Operator(tmp_path_factory.mktemp("operator"), get_or_create_template(tmp_path_factory))
    yield operator
    operator.server.remove()


@pytest.fixture(scope="package")
def archive(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of the database `source` and of one image, with its manifest. Tests copy it before they change it."""
    FolderStorage(operator.locate_media("source")).put(IMAGE, BytesIO(b"boat"))
    path = tmp_path_factory.mktemp("backup") / "demo.dump"
    require_success(operator.manage("source", "backup", str(path)))
    return path
