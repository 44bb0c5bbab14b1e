"""The third-party internals of internals.toml: their table in docs/internals.md, and the hashes of their sources."""

import hashlib
import importlib
import inspect
import re
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Use:
    """One use of some internals of a package. `hashes` has an empty text for a name without a source in Python."""

    package: str
    files: list[str]
    reason: str
    hashes: Mapping[str, str]


def read_document() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("internals.toml").read_text())


def list_uses(document: Mapping[str, Any]) -> Iterator[Use]:
    """Return the uses in the order of the document. Raises `ValueError` for a use without a name or a name twice."""
    seen: set[str] = set()
    for package, content in document.items():
        for files, reason, *lines in content.get("uses", []):
            hashes = {name: digest for name, _, digest in (line.partition(" ") for line in lines)}
            if not hashes or len(hashes) < len(lines) or seen & hashes.keys():
                raise ValueError(f"In {package}, {reason!r} has no name, or a name that is listed twice.")
            seen |= hashes.keys()
            yield Use(package, files.split(", "), reason, hashes)


def build_table() -> str:
    """Return the generated part of docs/internals.md: the packages, with the number of their interfaces in use."""
    document = read_document()
    numbers = Counter(use.package for use in list_uses(document) for _ in use.hashes)
    rows = [f"| {package} | {document[package]['version']} | {number} |" for package, number in numbers.items()]
    return "\n".join(["| Package | Version | Interfaces |", "|---|---|--:|", *rows])


def compute_hash(name: str) -> str:
    """Return the hash of the source of a name; an empty text if it has none. Raises `AttributeError`."""
    if ":" not in name:
        return ""
    module, _, path = name.partition(":")
    try:
        source = inspect.getsource(resolve(importlib.import_module(module), path))
    except (TypeError, OSError):  # a constant, an instance attribute, or C
        return ""
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
            if not any(re.search(rf"\bself\.{name}\b", inspect.getsource(base)) for base in bases):
                raise
            return None
        value = getattr(found, "fget", None) or getattr(found, "func", None) or getattr(found, "__func__", found)
    return value
