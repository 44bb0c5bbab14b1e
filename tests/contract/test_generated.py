"""The parts of documents that repeat code equal what the code generates."""

import pytest

from tests.contract.generated import PARTS, ROOT, replace_part


@pytest.mark.parametrize(("name", "marker"), PARTS)
def test_generated_part_of_a_document_is_current(name: str, marker: str) -> None:
    document = (ROOT / name).read_text()

    assert document == replace_part(document, marker, PARTS[name, marker]()), "run `make format`"
