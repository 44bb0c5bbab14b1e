"""The syntax trees of the project's modules, each parsed once in a process."""

import ast
from functools import cache
from pathlib import Path


@cache
def list_nodes(path: Path) -> list[ast.AST]:
    """Return the module of a file and all nodes below it."""
    return list(ast.walk(ast.parse(path.read_text())))
