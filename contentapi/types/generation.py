"""The files of an own type that `manage.py start_type` writes, each once: after that they are the team's."""

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.template import Context, Engine

from contentapi.core.identity import EDITORS, WRITERS, Role
from contentapi.types.columns import (
    PUBLICATION,
    fold,
    list_audience,
    list_event_columns,
    list_indexes,
    list_rules,
    write_column,
    write_constraint,
    write_index,
)
from contentapi.types.declared import Related, list_models
from contentapi.types.fields import TRAITS, Kind, OwnField, OwnType, convert_to_snake

TEMPLATES = Path(__file__).parent / "templates"
IMPORTS = (  # of the declaration
    "from contentapi.events.declarations import App",
    "from contentapi.types.models import OwnModel",
)
TAG_LINE = re.compile(r"^[ \t]*(\{%[^%]*%\})[ \t]*\n", re.MULTILINE)
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
NEEDED = """        ('contentapi', '0001_initial'),  # the sequence of the ids
        ('events', '0001_initial'),  # the table of new events
"""


def render(template: str, own: OwnType, **more: Any) -> str:
    """Return the text of a template. A line that is only a tag leaves no line."""
    text = TAG_LINE.sub(r"\1", (TEMPLATES / template).read_text("utf-8"))
    return str(Engine().from_string(text).render(Context({"own": own, **more}, autoescape=False)))


def list_files(own: OwnType, root: Path, types: Sequence[OwnType], related: Related) -> dict[Path, str]:
    """Return the texts of all new files but the migration, by their paths."""
    app, snake = root / own.app, own.snake
    tests = root / "tests" / own.app
    labels = list_models(types, related)
    apps_of_types = {each.snake: each.app for each in types}
    return {
        app / "__init__.py": "",
        app / "migrations" / "__init__.py": "",
        app / "models.py": write_models(own, labels),
        own.file.parent / "resources" / f"{snake}.graphql": render("fragment.graphql", own),
        tests / "__init__.py": "",
        tests / f"test_{snake}.py": write_test(own, apps_of_types),
        # After what it imports: with it, the app is installed
        app / "api.py": render("api.py.txt", own, imports=sorted([write_model_import(own), *IMPORTS])),
    }


def write_sdl(own: OwnType) -> str:
    """Return the SDL that follows the type."""
    rule = READ_RULES[own.read].format(path=own.path)
    new, changes, filters = ([*members.values()] for members in own.write_inputs().values())
    return render("schema.graphql", own, read_rule=rule, new=new, changes=changes, filters=filters)


def write_models(own: OwnType, models: Mapping[str, str]) -> str:
    """Return the module of the model. `models` has the labels of the types that relations lead to."""
    columns = [write_column(field, models) for field in own.fields]
    constraints = [write_constraint(*rule) for rule in list_rules(own)]
    indexes = [write_index(own, *each) for each in list_indexes(own)]
    texts = [f"self.{field.column}" for field in own.fields if field.kind == Kind.TEXT and field.is_required]
    written = render(
        "models.py.txt",
        own,
        columns=columns,
        publication=PUBLICATION if own.has_publication else (),
        constraints=constraints,
        indexes=indexes,
        code="".join([*columns, *indexes]),
        event_columns=", ".join(f'"{name}"' for name in list_event_columns(own)),
        audience=list_audience(own).items(),
        enums={field.type_name: field.values for field in own.fields if field.kind == Kind.ENUM}.items(),
        text=(*texts, 'f"{self.pk}"')[0],
    )
    return "\n".join(line for each in written.split("\n") for line in fold(each))


def write_test(own: OwnType, apps_of_types: Mapping[str, str]) -> str:
    """Return the test of the outcomes for each role. `apps_of_types` has the apps of own types, by their names."""
    needed = [field for field in own.fields if field.is_needed]
    members = [f'"{field.input_name}": {write_example(field)}' for field in needed]
    anonymous = ("None", 401, 200 if own.read == "public" else 401)
    return render(
        "test.py.txt",
        own,
        imports=list_test_imports(own, needed, apps_of_types),
        outcomes=[anonymous, *(list_outcomes(own, role) for role in Role)],
        values="\n".join(fold(f"    return {{{', '.join(members)}}}")),
    )


def write_model_import(own: OwnType) -> str:
    return f"from {own.app}.models import {own.name}"


def list_test_imports(own: OwnType, needed: Sequence[OwnField], apps_of_types: Mapping[str, str]) -> list[str]:
    """Return the imports, among them those of what makes the rows that required relations name."""
    related = sorted({convert_to_snake(field.type_name) for field in needed if field.kind == Kind.RELATION})
    others = ["make_actor", *(f"make_{name}" for name in related if name not in apps_of_types)]
    own_types = [name for name in related if name in apps_of_types]
    return sorted(
        [
            "from contentapi.core.identity import Role",
            write_model_import(own),
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
    return found


def write_file(path: Path, text: str) -> None:
    """Write a file that is either complete or not there, whenever the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)
