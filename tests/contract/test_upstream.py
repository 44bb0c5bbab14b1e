"""The third-party code that this project overrides, copies, bypasses or calls without a documented interface.

`internals.toml` has the hash of each source text and the version of each package. An upgrade that changes one of them
fails here.
"""

import ast
import hashlib
import re
import sys
import tomllib
from importlib.metadata import distribution, version
from pathlib import Path

import pytest
from gunicorn.config import KNOWN_SETTINGS as SETTINGS
from packaging.requirements import Requirement

from tests.contract.internals import compute_hash, list_uses, read_document
from tests.contract.sources import list_nodes

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = read_document()
USES = list(list_uses(DOCUMENT))
HASHES = {name: digest for use in USES for name, digest in use.hashes.items()}
# The last parts of the names, and the attributes that the reasons name
NAMES = {name.rpartition(".")[2].rpartition(":")[2] for name in HASHES}
NAMES |= {name for use in USES for name in re.findall(r"`(\w+)`", use.reason)}
PACKAGES = list(dict.fromkeys(use.package for use in USES))
OWN = {"blog", "contentapi", "orders", "users"}

# Modules that the documentation of their package names. Every import from another module is in internals.toml.
DOCUMENTED_MODULES = {
    "django", "django.apps", "django.conf", "django.conf.urls", "django.contrib", "django.contrib.admin",
    "django.contrib.auth", "django.contrib.auth.admin", "django.contrib.auth.forms", "django.contrib.auth.hashers",
    "django.contrib.auth.middleware",
    "django.contrib.auth.models", "django.contrib.auth.password_validation", "django.contrib.auth.views",
    "django.contrib.messages.middleware", "django.contrib.postgres.aggregates",
    "django.contrib.postgres.expressions", "django.contrib.postgres.fields",
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
    "oauth2_provider.models", "oauth2_provider.settings", "oauth2_provider.oauth2_validators",
    "oauthlib.oauth2", "oauthlib.oauth2.rfc6749.errors",
    "psycopg", "psycopg.adapt", "psycopg.conninfo", "psycopg.errors", "psycopg.pq", "psycopg.rows", "psycopg.sql",
    "psycopg.types",
    "ariadne", "cryptography.exceptions", "cryptography.hazmat.primitives", "cryptography.hazmat.primitives.asymmetric",
    "cryptography.hazmat.primitives.ciphers.aead",
    "anyascii", "comrak", "jose", "jose.exceptions", "msgspec", "prometheus_client", "prometheus_client.core",
    "prometheus_client.registry", "opentelemetry.context", "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.sdk.resources", "opentelemetry.sdk.trace", "opentelemetry.sdk.trace.export",
    "opentelemetry.sdk.trace.id_generator", "opentelemetry.sdk.trace.sampling", "opentelemetry.trace",
    "opentelemetry.trace.propagation.tracecontext", "redis", "redis.backoff", "redis.exceptions", "redis.retry", "tqdm",
    "unfold.admin", "unfold.contrib.filters.admin", "unfold.decorators", "unfold.forms", "unfold.sites",
    "unfold.widgets",
    "whitenoise", "PIL", "boto3", "botocore.config", "botocore.exceptions",
    "django.core.files.uploadhandler",
}  # fmt: skip
# Names that are public although their module, or the module under which they are imported, is not documented.
DOCUMENTED_NAMES = {
    "django.contrib.admin.helpers:ACTION_CHECKBOX_NAME",
    "django.contrib.sessions.backends.base:SessionBase",
    "django.contrib.auth.tokens:default_token_generator",  # the default of the documented views
    "django.core.handlers.asgi:ASGIRequest",  # what `AsyncRequestFactory` returns
    "django.http.response:HttpResponseBase",  # "a middleware" in the documentation of custom responses
    "django.middleware.csrf:get_token",
    "django.db.models.expressions:OrderBy",
    "django.db.models.fields.json:KT",
    "django.templatetags.static:static",
    "django.utils.dateparse:parse_date",
    "django.utils.deconstruct:deconstructible",
    "django.core.management.commands.migrate:Command",  # "Overriding commands" in the documentation
    "django.db.models.expressions:RawSQL",
    "django.db.models.sql.compiler:SQLCompiler",  # the type of the documented parameter of `as_sql`
    "django.db.models.sql:Query",  # and of that of `resolve_expression`
    "unfold:widgets",  # the documented module
    "whitenoise.middleware:WhiteNoiseMiddleware",  # documented for MIDDLEWARE, and with `add_files`
    "graphql.utilities:coerce_input_literal",
    "graphql.utilities:coerce_input_value",
    "graphql.validation.rules:overlapping_fields_can_be_merged",  # the modules whose constants are set
    "graphql.validation:validation_context",
    "oauth2_provider:admin",
}
DOCUMENTED_PRIVATE_NAMES = {
    "_meta", "_base_manager", "_default_manager",  # of Django's models
    "_asdict", "_fields", "_make", "_replace",  # of named tuples
    "_exit",
}  # fmt: skip


SOURCES = [path for app in OWN for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts]


@pytest.mark.thorough
def test_source_of_each_internal_is_unchanged() -> None:
    found = {name: compute_hash(name) for name in HASHES}

    assert found == HASHES, "Read the upstream diff of each of these, then change its hash."


@pytest.mark.parametrize("package", PACKAGES)
def test_version_of_a_package_is_the_one_that_was_read(package: str) -> None:
    unhashed = [name for use in USES if use.package == package for name, digest in use.hashes.items() if not digest]

    assert version(package) == DOCUMENT[package]["version"], f"read the changes of {unhashed}, then change the version"


def test_listed_folder_of_a_package_exists() -> None:
    folders = [(use.package, name) for use in USES for name in use.hashes if ":" not in name]

    assert [name for package, name in folders if not Path(str(distribution(package).locate_file(name))).is_dir()] == []


def test_replaced_templates_of_the_theme_are_unchanged() -> None:
    theme = Path(str(distribution("django-unfold").locate_file("unfold/templates")))
    own = {path.relative_to(folder) for folder in ROOT.glob("*/templates") for path in folder.rglob("*.html")}

    found = {
        str(name): hashlib.sha256((theme / name).read_bytes()).hexdigest()[:16]
        for name in own
        if (theme / name).is_file()
    }

    assert found == DOCUMENT["templates"], "read the upstream diff of the template, then change its hash"


def test_files_that_use_internals_exist() -> None:
    files = {name for use in USES for name in use.files}

    assert [
        name for name in sorted(files) if not any((ROOT / base / name).exists() for base in ("", "contentapi"))
    ] == []


@pytest.mark.thorough
def test_imports_from_undocumented_modules_are_listed() -> None:
    others = OWN | sys.stdlib_module_names
    imported = {
        f"{node.module}:{alias.name}"
        for path in SOURCES
        for node in list_nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
        if node.module.split(".")[0] not in others and node.module not in DOCUMENTED_MODULES
    }

    assert sorted(imported - HASHES.keys() - DOCUMENTED_NAMES) == []


def test_private_names_of_other_packages_are_listed() -> None:
    found = {f"{path}: {name}" for path in SOURCES for name in find_foreign_private_names(list_nodes(path)) - NAMES}

    assert sorted(found) == []


def find_foreign_private_names(nodes: list[ast.AST]) -> set[str]:
    """Return the names with one underscore that a module uses and does not define, or defines and does not use."""
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    used: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            is_own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
            (defined if is_own and isinstance(node.ctx, ast.Store) else used).add(
                node.attr if is_own else f".{node.attr}"
            )
    foreign = {name.removeprefix(".") for name in (defined ^ used)}
    return {name for name in foreign if re.match("_[^_]", name)} - DOCUMENTED_PRIVATE_NAMES


def test_modules_that_use_connections_of_libpq_are_listed() -> None:
    files = {name for use in USES for name in use.files if use.package == "psycopg"}
    named = [path for path in SOURCES if "pgconn" in path.read_text()]
    in_code = [path for path in named if "pgconn" in ast.unparse(list_nodes(path)[0])]
    used = {str(path.relative_to(ROOT / "contentapi")) for path in in_code}

    assert sorted(used - files) == []


def test_attributes_that_hooks_of_gunicorn_use_are_listed() -> None:
    hooks = [
        node
        for node in list_nodes(ROOT / "contentapi/server/gunicorn_conf.py")
        if isinstance(node, ast.FunctionDef) and node.name in {each.name for each in SETTINGS}
    ]
    used = {
        node.attr
        for hook in hooks
        for node in ast.walk(hook)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in {each.arg for each in hook.args.args}
    }

    assert hooks
    assert sorted(used - NAMES) == []


def test_packages_with_used_internals_are_pinned_exactly() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needs = {need.name.lower(): need for need in map(Requirement, project["dependencies"])}

    loose = [
        name for name in PACKAGES if name not in needs or [part.operator for part in needs[name].specifier] != ["=="]
    ]

    assert loose == []
