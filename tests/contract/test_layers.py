"""Rules that import-linter cannot express: which modules use the database and which use HTTP."""

import ast
import re
from pathlib import Path

import pytest
from django.conf import settings

from tests.contract.sources import list_nodes
from tests.quality.configuration import read_table

ROOT = Path(__file__).resolve().parents[2]
DOMAIN_CONTRACT = "The domain does not know GraphQL or REST"
RESOLVERS = sorted(ROOT.glob("*/resolvers.py"))
STATUS = re.compile(r"\b(401|403|404|409|422|429|503)\b")
VIEWS = sorted(ROOT.glob("*/views.py"))


def read_imports(path: Path) -> set[str]:
    nodes = list_nodes(path)
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}


def list_domain_files() -> list[Path]:
    """Return the files of the modules that the contract of import-linter calls the domain."""
    contracts = read_table("importlinter")["contracts"]
    (modules,) = [each["source_modules"] for each in contracts if each["name"] == DOMAIN_CONTRACT]
    places = [ROOT / module.replace(".", "/") for module in modules]
    return [path for place in places for path in ([*place.rglob("*.py")] or [place.with_suffix(".py")])]


def test_domain_modules_do_not_import_http() -> None:
    files = list_domain_files()

    assert len(files) > 40
    assert not [path for path in files if any(name.startswith("django.http") for name in read_imports(path))]


@pytest.mark.parametrize("path", [*RESOLVERS, *VIEWS], ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_transports_use_no_manager_transaction_or_policy(path: Path) -> None:
    nodes = list_nodes(path)

    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}

    assert "objects" not in attributes
    assert {"transaction", "policy"}.isdisjoint(
        alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    )


@pytest.mark.parametrize("path", RESOLVERS, ids=lambda path: path.parent.name)
def test_resolvers_are_functions(path: Path) -> None:
    assert not [node for node in list_nodes(path) if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize("path", VIEWS, ids=lambda path: path.parent.name)
def test_method_of_a_resource_has_at_most_four_statements(path: Path) -> None:
    classes = [node for node in list_nodes(path) if isinstance(node, ast.ClassDef)]
    methods = [node for kind in classes for node in kind.body if isinstance(node, ast.FunctionDef)]

    assert methods
    assert [node.name for node in methods if len(node.body) > 4] == []


def test_only_the_error_table_has_http_statuses() -> None:
    elsewhere = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for app in settings.CONTENT_APPS
        for path in (ROOT / app).rglob("*.py")
        if STATUS.search(path.read_text())
        for node in list_nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and STATUS.fullmatch(str(node.value))
    ]

    assert elsewhere == []
