"""The files of an own type that `manage.py start_type` writes, each once: after that they are the team's."""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.template import Context, Engine

from contentapi.core.identity import EDITORS, WRITERS, Role
from contentapi.types.columns import list_arguments, list_audience, list_event_names, list_indexes, list_rules
from contentapi.types.declared import Related, list_targets
from contentapi.types.fields import TRAITS, Kind, OwnField, OwnType, convert_to_snake

TEMPLATES = Path(__file__).parent / "templates"
ROOT = TEMPLATES.parents[2]  # with the configuration of the formatter
TAG_LINE = re.compile(r"^[ \t]*(\{%[^%]*%\}|\{#.*#\})[ \t]*\n", re.MULTILINE)
READ_RULES = {
    "public": "",
    "member": " Requires a credential with the scope `{path}:read`.",
    "staff": " Requires the scope `{path}:read` of an editor or an admin.",
}
# What `makemigrations` prints: the name of an app, or a file with its text
MIGRATION = re.compile(
    r"^Migrations for '(\w+)':$|^Full migrations file '(\S+)':\n(.*?    operations = \[\n.*?^    \]$)",
    re.MULTILINE | re.DOTALL,
)
DEPENDENCIES = "    dependencies = [\n"
DEPENDENCY = re.compile(r"^        \('(\w+)', '(\w+)'\),", re.MULTILINE)
NEEDED = """        ('contentapi', '0001_initial'),  # the sequence of the ids
        ('events', '0001_initial'),  # the table of new events
"""


def render(template: str, own: OwnType, **more: Any) -> str:
    """Return the text of a template. A line that is only a tag leaves no line."""
    text = TAG_LINE.sub(r"\1", (TEMPLATES / template).read_text("utf-8"))
    return str(Engine().from_string(text).render(Context({"own": own, **more}, autoescape=False, use_l10n=False)))


def list_files(own: OwnType, root: Path, types: Sequence[OwnType], related: Related) -> dict[Path, str]:
    """Return the texts of all new files but the migration, by their paths."""
    app, snake = root / own.app, own.snake
    tests = root / "tests" / own.app
    return {
        app / "__init__.py": "",
        app / "migrations" / "__init__.py": "",
        app / "models.py": write_models(own, list_targets(types, related)),
        own.file.parent / "resources" / f"{snake}.graphql": render("fragment.graphql", own),
        tests / "__init__.py": "",
        tests / f"test_{snake}.py": write_test(own, {each.snake: each.app for each in types}),
        # After what it imports: with it, the app is installed
        app / "api.py": render("api.py.txt", own),
    }


def write_sdl(own: OwnType) -> str:
    """Return the SDL that follows the type."""
    read_rule = READ_RULES[own.read].format(path=own.path)
    # A template would take the field `items` for the method of the mapping
    return render("schema.graphql", own, read_rule=read_rule, filters=own.filters.items())


def write_models(own: OwnType, targets: Related) -> str:
    """Return the module of the model. `targets` are the types that relations lead to."""
    texts = [f"self.{field.column}" for field in own.fields if field.kind == Kind.TEXT and field.is_required]
    kinds = {kind for kind, *_ in list_indexes(own)}
    written = render(
        "models.py.txt",
        own,
        columns=[(each, each.column_class.__name__, [*list_arguments(each, targets)]) for each in own.fields],
        rules=[*list_rules(own)],
        indexes=[*list_indexes(own)],
        has_arrays=any(field.is_list for field in own.fields),
        has_gin="GinIndex" in kinds,
        event_names=list_event_names(own),
        audience=list_audience(own).items(),
        enums={field.type_name: field.values for field in own.fields if field.kind == Kind.ENUM}.items(),
        text=(*texts, 'f"{self.pk}"')[0],
    )
    return format_code(written)


def write_test(own: OwnType, apps_of_types: Mapping[str, str]) -> str:
    """Return the test of the outcomes for each role. `apps_of_types` has the apps of own types, by their names."""
    needed = [field for field in own.fields if field.is_needed]
    anonymous = ("None", 401, 200 if own.read == "public" else 401)
    written = render(
        "test.py.txt",
        own,
        imports=list_test_imports(own, needed, apps_of_types),
        outcomes=[anonymous, *(list_outcomes(own, role) for role in Role)],
        values=[(field.input_name, write_example(field)) for field in needed],
    )
    return format_code(written)


@cache
def format_code(code: str) -> str:
    """Return code as the formatter writes that of the server; as it is where no formatter is installed."""
    command = [sys.executable, "-m", "ruff", "format", "-"]
    done = subprocess.run(command, input=code, capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stdout if done.returncode == 0 else code


def list_test_imports(own: OwnType, needed: Sequence[OwnField], apps_of_types: Mapping[str, str]) -> list[str]:
    """Return the imports, among them those of what makes the rows that required relations name."""
    related = sorted({convert_to_snake(field.type_name) for field in needed if field.kind == Kind.RELATION})
    others = ["make_actor", *(f"make_{name}" for name in related if name not in apps_of_types)]
    own_types = [name for name in related if name in apps_of_types]
    return sorted(
        [
            "from contentapi.core.identity import Role",
            f"from {own.app}.models import {own.name}",
            "from tests.conftest import GraphQL",
            f"from tests.factories import {', '.join(others)}",
            "from tests.resources import send_request",
            *(f"from tests.{apps_of_types[name]}.test_{name} import make_{name}" for name in own_types),
        ]
    )


def list_outcomes(own: OwnType, role: Role) -> tuple[str, int, int]:
    """Return the statuses of a creation, and of reading what is published."""
    may_read = own.read != "staff" or role in EDITORS
    return f"Role.{role.name}", 201 if role in WRITERS[own.write] else 403, 200 if may_read else 403


def write_example(field: OwnField) -> str:
    """Return the code of a value that meets the limits."""
    if field.kind == Kind.RELATION:
        return f"str(make_{convert_to_snake(field.type_name)}().pk)"
    limits = [limit for limit in (field.minimum, field.maximum) if limit is not None]
    value = [*field.values, *limits, TRAITS[field.kind].example][0]
    return f'"{value[: field.max_length]}"' if isinstance(value, str) else repr(value)


def write_migrations(apps: Sequence[str]) -> dict[Path, str]:
    """Return the texts of the first migrations of apps, by their paths. The apps are installed."""
    printed = StringIO()
    call_command("makemigrations", *apps, name="initial", dry_run=True, verbosity=3, stdout=printed)
    found, app = {}, ""
    for name, file, text in MIGRATION.findall(printed.getvalue()):
        app = name or app
        if file:
            needed = text.replace(DEPENDENCIES, f"{DEPENDENCIES}{NEEDED}", 1)
            found[Path(app, "migrations", file)] = f"{needed}\n"
    return sort_by_dependencies(found)


def sort_by_dependencies(migrations: Mapping[Path, str]) -> dict[Path, str]:
    """Return the migrations in the order of their dependencies, so that those written before a kill can be loaded."""
    needed = {
        path: {Path(app, "migrations", f"{name}.py") for app, name in DEPENDENCY.findall(text)} & migrations.keys()
        for path, text in migrations.items()
    }
    return {path: migrations[path] for path in TopologicalSorter(needed).static_order()}


def has_migration(own: OwnType) -> bool:
    """Return whether migrations create the table with the keys of the model; some of a circle have a second one."""
    folder = settings.BASE_DIR / own.app
    migrations = [path.read_text("utf-8") for path in (folder / "migrations").glob("0*.py")]
    model = (folder / "models.py").read_text("utf-8") if (folder / "models.py").exists() else ""
    keys = [field.column for field in own.relations if f"    {field.column} = models.ForeignKey(" in model]
    return bool(migrations) and all(f"'{key}'" in "".join(migrations) for key in keys)


def write_file(path: Path, text: str) -> None:
    """Write a file that is either complete or not there, whenever the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)
