"""Write the parts of documents that repeat code. `python -m tests.contract.generated`, a part of `make format`."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

from tests.contract.internals import build_tables

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("contentapi", "blog", "orders", "users")
NOT_IN_TREE = {"commands", "management", "migrations"}


def build_tree() -> str:
    """Return the packages, each with the first sentence of its docstring. Raises `ValueError` if one has none."""
    folders = [path.parent for name in PACKAGES for path in sorted((ROOT / name).rglob("__init__.py"))]
    return "\n".join(["```", *(build_line(folder) for folder in folders if folder.name not in NOT_IN_TREE), "```"])


def build_line(folder: Path) -> str:
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    if not docstring:
        raise ValueError(f"{folder} has no docstring, whose first sentence is its line in docs/architecture.md.")
    title = f"{'  ' * len(folder.relative_to(ROOT).parents[1:])}{folder.name}/"
    sentence = re.split(r"\.(?:\s|$)", docstring)[0].replace("\n", " ")
    return f"{title:<18} {sentence}"


PARTS: dict[tuple[str, str], Callable[[], str]] = {
    ("docs/internals.md", "internals"): build_tables,
    ("docs/architecture.md", "tree"): build_tree,
}


def main() -> None:
    for name, marker in PARTS:
        path = ROOT / name
        path.write_text(replace_part(path.read_text(), marker, PARTS[name, marker]()))


def replace_part(document: str, marker: str, text: str) -> str:
    """Return the document with another text between `<!-- marker -->` and `<!-- /marker -->`."""
    start, end = f"<!-- {marker} -->\n", f"\n<!-- /{marker} -->"
    before, _, rest = document.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"The document has no {start.strip()} … {end.strip()}.")
    return before + start + text + end + after


if __name__ == "__main__":
    main()
