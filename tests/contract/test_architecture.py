"""docs/architecture.md agrees with the packages and with the statements that the code sends; links in docs/ resolve."""

import json
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "contentapi"
DOCS = ROOT / "docs"
ARCHITECTURE = (DOCS / "architecture.md").read_text()
NOT_LAYERS = {"management", "migrations"}


def read_marked_text(name: str) -> str:
    """Return the text between two markers, without the fence of a code block."""
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", ARCHITECTURE, re.DOTALL)
    assert found, f"docs/architecture.md has no <!-- {name} -->."
    return re.sub(r"^```.*\n", "", found[1], flags=re.MULTILINE).strip("\n")


def test_layers_name_each_package_once() -> None:
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()} - NOT_LAYERS

    named = re.findall(r"\w+", read_marked_text("layers"))

    assert len(named) == len(set(named))
    assert packages - set(named) == set()


@pytest.mark.django_db
def test_example_statement_is_the_compiled_query(client: Client) -> None:
    body = {"query": read_marked_text("query"), "variables": json.loads(read_marked_text("variables"))}

    with CaptureQueriesContext(connection) as captured:
        response = client.post("/graphql", body, content_type="application/json")

    assert "errors" not in response.json()
    assert [remove_spaces(query["sql"]) for query in captured] == [remove_spaces(read_marked_text("statement"))]


def remove_spaces(sql: str) -> str:
    return re.sub(r"\s+", "", sql)


def test_each_decision_is_in_the_index() -> None:
    index = (DOCS / "decisions" / "README.md").read_text()

    numbered = sorted(path.name for path in (DOCS / "decisions").glob("[0-9]*.md"))

    assert re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", index) == numbered
    assert len({name[:4] for name in numbered}) == len(numbered)


def test_each_decision_has_at_most_400_words() -> None:
    words = {path.name: len(path.read_text().split()) for path in (DOCS / "decisions").glob("[0-9]*.md")}

    assert {name: number for name, number in words.items() if number > 400} == {}
