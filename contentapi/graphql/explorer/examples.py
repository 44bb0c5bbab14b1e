"""The examples of the explorer. tests/contentapi/graphql/explorer/test_examples.py checks them against the SDL."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

FILE = Path(__file__).with_name("examples.yaml")


class Lookup(NamedTuple):
    """A query whose first `id` becomes the variable at `path`, such as `input.postId`: ids depend on the content."""

    path: str
    query: str


class Example(NamedTuple):
    """An operation. `credential` names the kind of user that it requires, and is empty if it requires none."""

    title: str
    description: str
    query: str
    variables: dict[str, Any]
    lookups: list[Lookup]
    credential: str


@cache
def load_examples() -> list[tuple[str, list[Example]]]:
    """Return the groups of examples in the order of the file. Raises `KeyError` if an example lacks a member."""
    groups = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return [(group["group"], [read_example(example) for example in group["examples"]]) for group in groups]


def read_example(example: dict[str, Any]) -> Example:
    lookups = [Lookup(path, query) for path, query in example.get("lookups", {}).items()]
    return Example(
        title=example["title"],
        description=example["description"],
        query=example["query"],
        variables=example.get("variables", {}),
        lookups=lookups,
        credential=example.get("credential", ""),
    )


def describe_examples() -> list[dict[str, Any]]:
    """Return the groups of examples as JSON for the page."""
    return [
        {
            "group": group,
            "examples": [
                {**example._asdict(), "lookups": [lookup._asdict() for lookup in example.lookups]}
                for example in examples
            ],
        }
        for group, examples in load_examples()
    ]
