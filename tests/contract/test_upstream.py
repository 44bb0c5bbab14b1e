"""The third-party code that this project overrides, copies, bypasses or calls without a documented interface.

Each entry is the hash of a source text or, if there is no source in Python, the version of the distribution. An
upgrade that changes one of them fails here. `docs/internals.md` has the same names, with the reason for each.
"""

import ast
import hashlib
import importlib
import inspect
import re
import textwrap
import tomllib
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.contract.upstream_hashes import DISTRIBUTIONS, REPLACED_TEMPLATES, UPSTREAM

ROOT = Path(__file__).resolve().parents[2]
INTERNALS = (ROOT / "docs" / "internals.md").read_text()

# Modules that the documentation of their package names. Every import from another module is in UPSTREAM.
DOCUMENTED_MODULES = {
    "django", "django.apps", "django.conf", "django.conf.urls", "django.contrib", "django.contrib.admin",
    "django.contrib.auth", "django.contrib.auth.admin", "django.contrib.auth.forms", "django.contrib.auth.middleware",
    "django.contrib.auth.models", "django.contrib.auth.password_validation", "django.contrib.auth.views",
    "django.contrib.messages.middleware", "django.contrib.postgres.aggregates", "django.contrib.postgres.fields",
    "django.contrib.postgres.forms", "django.contrib.postgres.indexes", "django.contrib.postgres.search",
    "django.contrib.sessions.backends", "django.contrib.sessions.middleware", "django.contrib.sessions.models",
    "django.core", "django.core.asgi", "django.core.cache", "django.core.checks", "django.core.exceptions",
    "django.core.handlers.wsgi", "django.core.mail", "django.core.management", "django.core.management.base",
    "django.core.paginator", "django.core.signals", "django.core.signing", "django.core.validators",
    "django.core.wsgi", "django.db", "django.db.backends.postgresql", "django.db.migrations", "django.db.models",
    "django.db.models.functions", "django.db.models.lookups", "django.db.transaction", "django.db.utils",
    "django.dispatch", "django.forms", "django.http", "django.shortcuts", "django.template",
    "django.template.loader", "django.template.response", "django.test", "django.test.utils", "django.urls",
    "django.utils", "django.utils.cache", "django.utils.decorators", "django.utils.deprecation",
    "django.utils.encoding", "django.utils.functional", "django.utils.html", "django.utils.module_loading",
    "django.utils.safestring", "django.utils.timezone", "django.views.decorators.cache",
    "django.views.decorators.csrf", "django.views.decorators.http", "django.views.generic",
    "corsheaders.signals", "corsheaders.defaults",
    "granian", "granian.constants", "granian.http",
    "graphql",
    "gunicorn.app.base",
    "oauth2_provider.models", "oauth2_provider.settings", "oauth2_provider.exceptions", "oauth2_provider.views",
    "oauth2_provider.oauth2_backends", "oauth2_provider.oauth2_validators",  # subclasses are named in settings
    "oauthlib.oauth2", "oauthlib.oauth2.rfc6749.errors",
    "psycopg", "psycopg.adapt", "psycopg.conninfo", "psycopg.errors", "psycopg.pq", "psycopg.rows", "psycopg.sql",
    "psycopg.types",
    "unfold.admin", "unfold.contrib.filters.admin", "unfold.decorators", "unfold.forms", "unfold.sites",
    "unfold.widgets",
    "whitenoise",
}  # fmt: skip
# Names that are public although their module, or the module under which they are imported, is not documented.
DOCUMENTED_NAMES = {
    "django.contrib.admin.helpers:ACTION_CHECKBOX_NAME",
    "django.http.response:HttpResponseBase",  # "a middleware" in the documentation of custom responses
    "django.middleware.csrf:get_token",
    "django.db.models.expressions:OrderBy",
    "django.templatetags.static:static",
    "django.utils.dateparse:parse_date",
    "django.utils.deconstruct:deconstructible",
    "django.core.management.commands.migrate:Command",  # "Overriding commands" in the documentation
    "django.db.models.expressions:RawSQL",
    "django.db.models.sql.compiler:SQLCompiler",  # the type of the documented parameter of `as_sql`
    "whitenoise.middleware:WhiteNoiseMiddleware",  # documented for MIDDLEWARE, and with `add_files`
    "graphql.utilities:coerce_input_literal",
    "graphql.utilities:coerce_input_value",
    "graphql.validation.rules:overlapping_fields_can_be_merged",  # the modules whose constants are set
    "graphql.validation:validation_context",
    "oauth2_provider:admin",
}


def fingerprint(name: str) -> str:
    """Return the hash of a name's source, or the version of its distribution where it has none."""
    if ":" not in name:
        return f"{DISTRIBUTIONS[name.split('/')[0]]} {version(DISTRIBUTIONS[name.split('/')[0]])}"
    module, _, path = name.partition(":")
    package = DISTRIBUTIONS[module.split(".")[0]]
    try:
        source = inspect.getsource(resolve(importlib.import_module(module), path))
    except (TypeError, OSError):  # a constant, an instance attribute, or C
        return f"{package} {version(package)}"
    lines = [line.rstrip() for line in textwrap.dedent(source).splitlines()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def resolve(value: Any, path: str) -> Any:
    """Return the function or class at a path; None for an instance attribute. Raises `AttributeError`."""
    for name in path.split("."):
        if not inspect.isclass(value):
            value = getattr(value, name)
            continue
        try:
            found = inspect.getattr_static(value, name)
        except AttributeError:
            bases = [base for base in value.__mro__ if base is not object]
            if not any(f"self.{name}" in inspect.getsource(base) for base in bases):
                raise
            return None
        value = getattr(found, "fget", None) or getattr(found, "func", None) or getattr(found, "__func__", found)
    return value


@pytest.mark.parametrize("name", UPSTREAM)
def test_third_party_internals_are_unchanged(name: str) -> None:
    if "/" in name:
        package = DISTRIBUTIONS[name.split("/")[0]]
        assert Path(str(distribution(package).locate_file(name))).is_dir()

    found = fingerprint(name)

    assert found == UPSTREAM[name], f"read the upstream diff of {name}, then change this hash to {found}"


def test_replaced_templates_of_the_theme_are_unchanged() -> None:
    theme = Path(str(distribution("django-unfold").locate_file("unfold/templates")))
    own = {path.relative_to(folder) for folder in ROOT.glob("*/templates") for path in folder.rglob("*.html")}

    found = {
        str(name): hashlib.sha256((theme / name).read_bytes()).hexdigest()[:16]
        for name in own
        if (theme / name).is_file()
    }

    assert found == REPLACED_TEMPLATES, "read the upstream diff of the template, then change its hash"


def test_internals_document_lists_the_same_names() -> None:
    listed = re.findall(r"^\| `([^`]+)` \|", INTERNALS, re.MULTILINE)

    assert sorted(listed) == sorted(UPSTREAM)


def test_internals_document_states_their_number() -> None:
    stated = re.search(r"\*\*(\d+) interfaces\*\*", INTERNALS)

    assert stated
    assert int(stated[1]) == len(UPSTREAM)


def test_imports_from_undocumented_modules_are_listed() -> None:
    sources = [path for app in ("contentapi", "blog", "orders", "users") for path in (ROOT / app).rglob("*.py")]
    imported = {
        f"{node.module}:{alias.name}"
        for path in sources
        if "migrations" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
        if node.module.split(".")[0] in DISTRIBUTIONS and node.module not in DOCUMENTED_MODULES
    }

    assert sorted(imported - UPSTREAM.keys() - DOCUMENTED_NAMES) == []


def test_packages_with_used_internals_are_pinned_exactly() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needs = {need.name.lower(): need for need in map(Requirement, project["dependencies"])}

    loose = [
        name
        for name in {DISTRIBUTIONS[re.split(r"[.:/]", each)[0]] for each in UPSTREAM}
        if name not in needs or [part.operator for part in needs[name].specifier] != ["=="]
    ]

    assert loose == []
