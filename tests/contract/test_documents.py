"""Compares the documentation, the changelog and the lock files with the code."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from packaging.requirements import Requirement

from contentapi.conf.environment import Environment

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = (ROOT / "docs/settings.md").read_text()
OPERATOR_COMMANDS = (ROOT / "docs/commands.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
COMMANDS = sorted(path.stem for path in ROOT.glob("*/management/commands/[a-z]*.py"))
PIN = re.compile(r"^(?P<name>[\w.-]+)(?:\[[^]]*\])?==(?P<version>\S+)", re.MULTILINE)


def test_settings_page_lists_each_variable_with_its_default() -> None:
    for field in msgspec.structs.fields(Environment):
        row = re.search(rf"^\| `{field.name.upper()}` \| (.*?) \|", SETTINGS, re.MULTILINE)

        assert row, field.name
        if isinstance(field.default, int) and field.name != "web_concurrency":
            assert str(field.default) in row[1].replace(",", "")


def test_settings_page_has_only_real_variables() -> None:
    variables = re.findall(r"^\| `([A-Z_]+)` \|", SETTINGS, re.MULTILINE)

    assert sorted(variables) == sorted(name.upper() for name in Environment.__struct_fields__)


def test_page_of_the_commands_lists_each_command() -> None:
    listed = set(re.findall(r"^\| `(\w+)", OPERATOR_COMMANDS, re.MULTILINE))

    assert set(COMMANDS) - listed == set()


def test_changelog_begins_with_the_current_version() -> None:
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert first
    assert first[1] == PROJECT["project"]["version"]


@pytest.mark.parametrize(
    ("lock", "requirements"),
    [
        ("requirements.txt", PROJECT["project"]["dependencies"]),
        ("requirements-dev.txt", PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]),
    ],
)
def test_lock_file_pins_each_dependency_with_its_hashes(lock: str, requirements: list[str]) -> None:
    text = (ROOT / lock).read_text()
    pins = {match["name"]: match["version"] for match in PIN.finditer(text)}

    wrong = [
        text for text in requirements if not (need := Requirement(text)).specifier.contains(pins[need.name.lower()])
    ]

    assert wrong == []
    blocks = re.split(r"\n(?=\S)", text.strip())
    assert [block for block in blocks if not block.startswith("#") and "--hash=sha256:" not in block] == []


def test_lock_files_have_equal_versions() -> None:
    base, dev = (dict(PIN.findall((ROOT / name).read_text())) for name in ("requirements.txt", "requirements-dev.txt"))

    assert {name: dev.get(name) for name in base} == base
