"""Write the parts of documents that repeat code. `python -m tests.contract.generated`, a part of `make format`.

With `--check`, a part of `make check`, it writes nothing, and fails with the names of the parts that are not current.
"""

import ast
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import django

from tests.contract.internals import build_table

ROOT = Path(__file__).resolve().parents[2]
APPS = ("blog", "orders", "users")
NOT_IN_TREE = {"management", "migrations"}


def build_tree() -> str:
    """Return the packages of the kernel and the apps, each with the first sentence of its docstring.

    Raises `ValueError` if one has none.
    """
    kernel = [path.parent for path in sorted((ROOT / "contentapi").glob("*/__init__.py"))]
    folders = [ROOT / "contentapi", *kernel, *(ROOT / name for name in APPS)]
    return "\n".join(["```", *(build_line(folder) for folder in folders if folder.name not in NOT_IN_TREE), "```"])


def build_line(folder: Path) -> str:
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    if not docstring:
        raise ValueError(f"{folder} has no docstring, whose first sentence is its line in docs/architecture.md.")
    title = f"{'  ' * len(folder.relative_to(ROOT).parents[1:])}{folder.name}/"
    sentence = re.split(r"\.(?:\s|$)", docstring)[0].replace("\n", " ")
    return f"{title:<18} {sentence}"


def set_up() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")
    django.setup()


def render_events() -> str:
    """Return the type `<Type>Event` of each type with events: the fields of the interface, and the object."""
    set_up()
    from contentapi.events.declarations import load_apps
    from contentapi.types.declared import load_own_types

    own = {each.name for each in load_own_types()}  # whose events are in no file
    interface = re.search(
        r"^interface Event {\n(.*?)^}", (ROOT / "schema/events.graphql").read_text(), re.DOTALL | re.M
    )
    names = [
        each.projection.name
        for app in load_apps()
        for each in app.types
        if each.events and each.projection.name not in own
    ]
    return "\n\n".join(render_event(name, interface[1] if interface else "") for name in names)


def render_event(name: str, fields: str) -> str:
    kind = name.lower()
    field = f'  "The {kind} as it is now; null if you may not see it."\n  {kind}: {name}\n'
    description = f'"Something that happened to {"an" if name[0] in "AEIO" else "a"} {kind}."'
    return f"{description}\ntype {name}Event implements Event {{\n{fields}{field}}}"


def render_openapi(function: str) -> str:
    """Return a part of openapi.yaml, which needs the bound schema of the project."""
    set_up()
    from tests.contract import openapi_schemas

    text: str = getattr(openapi_schemas, function)()
    return text


PARTS: dict[tuple[str, str], Callable[[], str]] = {
    ("docs/internals.md", "internals"): build_table,
    ("docs/architecture.md", "tree"): build_tree,
    ("schema/events.graphql", "events"): render_events,  # before what needs the bound schema
    ("schema/openapi.yaml", "texts"): lambda: render_openapi("render_example"),
    ("schema/openapi.yaml", "types"): lambda: render_openapi("render_types"),
    ("schema/openapi.yaml", "schemas"): lambda: render_openapi("render_schemas"),
}


def list_stale_parts() -> Iterator[str]:
    """Yield the names of the parts that are not current: of a list of schemas, each schema."""
    for (name, marker), build in PARTS.items():
        texts = get_part((ROOT / name).read_text(), marker), build()
        if texts[0] != texts[1]:
            schemas = [set(re.split(r"^    (?=\w)", f"{text}\n", flags=re.MULTILINE)) for text in texts]
            names = {f"the schema {each.split(':')[0]}" for each in schemas[0] ^ schemas[1] if marker == "schemas"}
            yield f"{name}: {', '.join(sorted(names)) or marker}"


def main(*, is_check: bool) -> None:
    if is_check:
        stale = [*list_stale_parts()]
        sys.exit("\n".join(["Run `make format`. These are not current:", *stale]) if stale else 0)
    for name, marker in PARTS:
        path = ROOT / name
        path.write_text(replace_part(path.read_text(), marker, PARTS[name, marker]()))


def split_document(document: str, marker: str) -> tuple[str, str, str]:
    """Split a document at `<!-- marker -->` and `<!-- /marker -->`, or at `# <marker>` and `# </marker>`."""
    start, end = (rf"(?:<!-- {slash}{marker} -->|# <{slash}{marker}>)" for slash in ("", "/"))
    found = re.fullmatch(rf"(.*{start}\n)(.*?)(\n *{end}.*)", document, re.DOTALL)
    if not found:
        raise ValueError(f"The document has no {marker} between markers.")
    return found[1], found[2], found[3]


def get_part(document: str, marker: str) -> str:
    return split_document(document, marker)[1]


def replace_part(document: str, marker: str, text: str) -> str:
    """Return the document with another text between its markers."""
    before, _, after = split_document(document, marker)
    return before + text + after


if __name__ == "__main__":
    main(is_check="--check" in sys.argv)
