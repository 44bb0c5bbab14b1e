"""The command of the installed package; `.ci/package` installs one, and starts its demo."""

import os
from pathlib import Path

import pytest

from contentapi.management import command_line


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The management commands that were run. The user's data are below `tmp_path`."""
    arguments: list[list[str]] = []
    monkeypatch.setattr(command_line, "run_command", arguments.append)
    monkeypatch.setenv("CONTENTAPI_VAR", "")
    monkeypatch.delenv("CONTENTAPI_VAR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    return arguments


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """Run the command, and return the folder of its data."""
    monkeypatch.setattr("sys.argv", ["contentapi", *arguments])
    command_line.main()
    return os.environ["CONTENTAPI_VAR"]


def test_demo_serves_with_the_data_of_the_user(
    executed: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run(monkeypatch, "demo") == str(tmp_path / "contentapi")
    assert executed == [["contentapi manage", "serve"]]


def test_option_chooses_another_folder(
    executed: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "demo", "--var", "mine") == str(tmp_path / "mine")
    assert run(monkeypatch, "manage", "--var", "/srv/data", "list_users", "--json") == "/srv/data"
    assert executed[1:] == [["contentapi manage", "list_users", "--json"]]


def test_environment_names_the_folder(executed: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTAPI_VAR", "/srv/content")
    assert run(monkeypatch, "manage", "migrate", "--noinput") == "/srv/content"
    assert executed == [["contentapi manage", "migrate", "--noinput"]]
