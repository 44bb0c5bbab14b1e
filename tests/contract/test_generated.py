"""The parts of documents that repeat code equal what the code generates."""

import pytest

from contentapi.rest.openapi import read_openapi_file
from tests.contract import generated
from tests.contract.openapi_schemas import build_schemas


def test_generated_parts_of_documents_are_current() -> None:
    assert [*generated.list_stale_parts()] == [], "run `make format`"


def test_generated_schemas_are_those_of_the_document() -> None:
    assert read_openapi_file()["components"]["schemas"].items() >= build_schemas().items()


def test_check_names_the_schemas_that_are_not_current(monkeypatch: pytest.MonkeyPatch) -> None:
    part = ("schema/openapi.yaml", "schemas")
    changed = generated.PARTS[part]().replace("    PostStatus:\n", "    PostState:\n").replace("    id:", "    key:", 1)
    monkeypatch.setattr(generated, "PARTS", {part: lambda: changed})

    with pytest.raises(SystemExit) as caught:
        generated.main(is_check=True)

    names = [f"the schema {name}" for name in ("Author", "PostState", "PostStatus")]
    assert str(caught.value).endswith(f"schema/openapi.yaml: {', '.join(names)}")
