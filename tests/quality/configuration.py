"""Read the tables `tool.NAME` of pyproject.toml."""

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def read_table(*names: str) -> dict[str, Any]:
    """Return a table of `tool` in pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    for name in names:
        table = table[name]
    return table
