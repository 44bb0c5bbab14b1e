"""The package `contentapi` names no module, model, table, type or event of an app, except where apps are composed."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from contentapi.schema import EVENT_TYPES
from tests.contract.sources import list_nodes

ROOT = Path(__file__).resolve().parents[2]
KERNEL = ROOT / "contentapi"
COMPOSITION = ("demo.py", "settings.py")
FILES = [path for path in sorted(KERNEL.rglob("*.py")) if str(path.relative_to(KERNEL)) not in COMPOSITION]
APPS = f"(?:{'|'.join(settings.CONTENT_APPS)})"
SDL_OF_APPS = [path for path in ROOT.glob("schema/*.graphql") if path.stem not in ("schema", "events", "webhooks")]
EXCEPTIONS = {
    "Role": "the roles are those of core/identity.py, and users.graphql shows them",
    "Preview": "the rights of a preview token, which core/identity.py declares",
    "ApiKey": "the scheme of the header WWW-Authenticate",
}


def compile_names() -> re.Pattern[str]:
    """Return what finds modules, labels, tables and pages of apps, and the names of models, types and events."""
    names = {model.__name__ for model in apps.get_models() if re.match(rf"{APPS}\.", model.__module__)}
    for path in SDL_OF_APPS:
        names.update(re.findall(r"^(?:type|input|enum|interface|union) (\w+)", path.read_text(), re.MULTILINE))
    kinds = "|".join(EVENT_TYPES.sources)
    written = "|".join(sorted(names - EXCEPTIONS.keys()))
    return re.compile(rf"(?<![\w.-])(?:{APPS}[._]\w+|(?:{kinds})\.(?:\w+|\*)|{written})(?![\w-])")


NAMES = compile_names()


def find_names(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield the names of apps in the identifiers and strings of code. Docstrings are prose."""
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant):
            texts = [node.value] if isinstance(node.value, str) and id(node) not in prose else []
        elif isinstance(node, ast.ImportFrom):
            texts = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            texts = [name for name in (getattr(node, key, "") for key in ("id", "attr", "name", "arg")) if name]
        for text in texts:
            yield from find_in_text(text)


def find_in_text(text: str) -> list[str]:
    """Return the names in a text. Neither the first word of a sentence is one, nor an example after “such as”."""
    return [found[0] for found in NAMES.finditer(text.partition("such as")[0]) if found.start() or " " not in text]


def test_kernel_names_nothing_of_an_app() -> None:
    found = {str(path.relative_to(KERNEL)): sorted({*find_names(list_nodes(path))}) for path in FILES}

    assert len(found) > 200
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from blog.models import Post as Article", ["blog.models", "Post"]),
        ("isinstance(row, Comment)", ["Comment"]),
        ("reverse('admin:blog_image_add')", ["blog_image_add"]),
        ("cursor.execute('SELECT id FROM orders_order WHERE id = %s')", ["orders_order"]),
        ("EVENT = 'order.paid'", ["order.paid"]),
        ('"""Pay an Order."""', []),
        ("raise Invalid('Comment on posts, such as: ... on Post')", []),
        ("X = 'User-Agent', 'contentapi.blog_post'", []),
    ],
)
def test_names_of_apps_are_found_in_code(code: str, found: list[str]) -> None:
    assert [*find_names([*ast.walk(ast.parse(code))])] == found
