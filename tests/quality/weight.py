"""Measure the weight of the project. `python -m tests.quality.weight`, a part of `make check`.

Prints each figure beside its ceiling, which is in pyproject.toml, and fails if a figure exceeds it. So nothing grows
unnoticed. A change that makes the project lighter also lowers the ceilings.
"""

import ast
import gc
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contentapi.settings")

import django
import grimp
from django.contrib import admin

from tests.contract.internals import list_uses, read_document
from tests.quality.configuration import ROOT, read_table

Function = ast.FunctionDef | ast.AsyncFunctionDef
PACKAGES = ("blog", "contentapi", "orders", "users")
LARGEST_FILE = 300  # lines
SHORT = 9  # lines of a function that may be dense
DENSE = 9  # nodes of the syntax tree a line


def main() -> int:
    gc.disable()  # all syntax trees are kept
    django.setup()
    import contentapi.urls  # noqa: F401 - registers the pages of the desk

    figures, ceilings = measure_weight(), read_table("contentapi", "weight")
    for name, figure in figures.items():
        print(f"{figure:>10,.10g}  {name} (ceiling {ceilings.get(name, 'missing')})")
    problems = list(find_problems(figures, ceilings))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def find_problems(figures: Mapping[str, float], ceilings: Mapping[str, float]) -> Iterator[str]:
    for name in sorted(set(figures) - set(ceilings)):
        yield f"{name} has no ceiling in pyproject.toml, tool.contentapi.weight."
    for name in sorted(set(ceilings) - set(figures)):
        yield f"{name} in pyproject.toml, tool.contentapi.weight, is not measured."
    for name in sorted(set(figures) & set(ceilings)):
        if figures[name] > ceilings[name]:
            yield f"{name} is {figures[name]:,.10g}, above its ceiling {ceilings[name]:,}. See CONTRIBUTING.md."


def measure_weight() -> dict[str, float]:
    """Return the figures by their names. Files are those that git knows or would add."""
    files = list_python_files()
    product = {path: text for path, text in files.items() if path.parts[0] in PACKAGES}
    tests = {path: text for path, text in files.items() if path.parts[0] == "tests"}
    functions = list(list_functions(product.values()))
    lengths = sorted(map(count_function_lines, functions))
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    parts, imports = count_parts(graph)
    return {
        "third-party internals": sum(len(use.hashes) for use in list_uses(read_document())),
        "parts of blog": parts,
        "imports between parts of blog": imports,
        "import cycles": len(find_import_cycle(graph)),
        "own classes of an admin": max(map(count_own_classes, admin.site._registry.values())),
        "median lines of a function": median(lengths),
        "95th percentile of the lines of a function": round(quantiles(lengths, n=20)[-1], 1),
        f"functions of more than {SHORT} lines with more than {DENSE} nodes a line": sum(map(is_dense, functions)),
        "product files over 300 lines": count_large_files(product.values()),
        "test files over 300 lines": count_large_files(tests.values()),
    }


def list_python_files() -> dict[Path, str]:
    """Return the texts of the Python files by their paths, without migrations."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    paths = map(Path, subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines())
    return {
        path: (ROOT / path).read_text() for path in paths if "migrations" not in path.parts and (ROOT / path).exists()
    }


def list_functions(texts: Iterable[str]) -> Iterator[Function]:
    for text in texts:
        yield from (node for node in ast.walk(ast.parse(text)) if isinstance(node, Function))


def count_function_lines(function: Function) -> int:
    """Return the lines of a function, from `def` to its last line."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def is_dense(function: Function) -> bool:
    """Return whether a function has many nodes of the syntax tree for its lines without the docstring.

    Whether a name is read or written is no node.
    """
    docstring = function.body[0] if ast.get_docstring(function) is not None else None
    lines = count_function_lines(function)
    if docstring is not None:
        lines -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
    nodes = sum(not isinstance(node, ast.expr_context) for node in ast.walk(function))
    return lines > SHORT and nodes > DENSE * lines


def count_large_files(texts: Iterable[str]) -> int:
    return sum(text.count("\n") > LARGEST_FILE for text in texts)


def count_parts(graph: grimp.ImportGraph) -> tuple[int, int]:
    """Return the number of parts of blog, which are modules and packages, and of imports of one part by another."""
    parts = graph.find_children("blog")
    imports = {
        (importer, imported)
        for importer in parts
        for imported in parts - {importer}
        if has_direct_import(graph, importer, imported)
    }
    return len(parts), len(imports)


def has_direct_import(graph: grimp.ImportGraph, importer: str, imported: str) -> bool:
    targets = {imported, *graph.find_descendants(imported)}
    sources = {importer, *graph.find_descendants(importer)}
    return any(graph.find_modules_directly_imported_by(source) & targets for source in sources)


def find_import_cycle(graph: grimp.ImportGraph) -> list[str]:
    """Return the modules of a cycle of imports; nothing if there is none. A package's `__init__` is its module."""
    sorter = TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})
    try:
        sorter.prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        print("A cycle of imports:", *(f"\n  {module} is imported by {other}" for module, other in pairwise(cycle)))
        return cycle
    return []


def count_own_classes(model_admin: "admin.ModelAdmin[Any]") -> int:
    """Return the number of classes of this project among the bases of an admin, itself included."""
    return sum(each.__module__.split(".")[0] in PACKAGES for each in type(model_admin).__mro__)


if __name__ == "__main__":
    sys.exit(main())
