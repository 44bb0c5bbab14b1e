"""Links and size of the documentation. tests/e2e/test_documentation.py runs its commands."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.e2e.documentation import differences, documents, examples
from tests.markdown import find_anchors, find_fenced_blocks, find_link_targets

ROOT = Path(__file__).resolve().parents[2]
MAX_README = 8000  # bytes
DOCUMENTS = documents(ROOT)


def find_broken_links(document: Path) -> Iterator[str]:
    for target in find_link_targets(document.read_text()):
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        path = (document.parent / unquote(parts.path)).resolve() if parts.path else document
        if not path.is_relative_to(ROOT):
            yield f"{target}: is outside of the repository"
        elif not path.exists():
            yield f"{target}: there is no {path.relative_to(ROOT)}"
        elif parts.fragment and (path.suffix != ".md" or unquote(parts.fragment) not in find_anchors(path.read_text())):
            yield f"{target}: {path.name} has no heading with the anchor #{parts.fragment}"


def test_every_relative_link_leads_to_a_file_and_a_heading() -> None:
    assert [(document, broken) for document in DOCUMENTS for broken in find_broken_links(document)] == []


def test_first_command_of_the_readme_starts_everything() -> None:
    first, *_ = find_fenced_blocks((ROOT / "README.md").read_text())

    assert (first.info, first.text) == ("sh", "make run\n")


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_bytes()) < MAX_README


def test_readme_links_to_every_page_of_the_documentation() -> None:
    linked = {(ROOT / target).resolve() for target in find_link_targets((ROOT / "README.md").read_text())}

    assert [path for path in DOCUMENTS if path != ROOT / "README.md" and linked.isdisjoint({path, path.parent})] == []


def test_every_response_follows_a_runnable_block_and_is_json() -> None:
    for document in DOCUMENTS:
        responses = [block for block in find_fenced_blocks(document.read_text()) if block.info == "json response"]

        assert [block.text for block in responses] == [it.response.text for it in examples(document) if it.response]
        for block in responses:
            json.loads(block.text)


@pytest.mark.parametrize(
    ("expected", "actual", "count"),
    [
        ({"a": "…", "b": [1]}, {"a": {"c": 2}, "b": [1]}, 0),
        ({"a": 1}, {"a": 1, "b": 2}, 1),
        ([1, "…"], [1], 1),
        ({"a": [1, 2]}, {"a": [2, 1]}, 2),
    ],
)
def test_ellipsis_in_a_response_matches_any_value(expected: object, actual: object, count: int) -> None:
    assert len(list(differences(expected, actual))) == count
