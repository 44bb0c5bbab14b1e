"""The creation of real virtual environments, from locks that need no package index."""

from pathlib import Path

import pytest

from contentapi import bootstrap

pytestmark = pytest.mark.servers

NOTHING = "--no-index\n"
UNAVAILABLE = f"--no-index\nnothing-of-this-name==1 --hash=sha256:{'0' * 64}\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    return tmp_path


def test_environment_is_installed_once_and_again_when_its_lock_changes(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock, invalid = checkout / "locked.txt", checkout / "bad.txt"
    lock.write_text(NOTHING)
    invalid.write_text(UNAVAILABLE)

    for _ in range(2):
        bootstrap.main(["locked.txt"])
    once = capsys.readouterr().err
    lock.write_text(NOTHING + "# another\n")
    bootstrap.main(["locked.txt"])
    again = capsys.readouterr().err

    assert once == again == "Installing locked.txt into .venv (once; about a minute)\n"
    assert bootstrap.is_installed(lock)
    assert (checkout / ".venv/bin/python").exists()

    # A failed installation is reported, and counts as not installed.
    with pytest.raises(SystemExit, match=r"^The locked dependencies could not be installed"):
        bootstrap.main(["locked.txt", "bad.txt"])

    assert not bootstrap.is_installed(lock)
    assert not bootstrap.is_installed(invalid)


@pytest.mark.thorough
def test_environment_without_its_python_is_created_again(checkout: Path) -> None:
    lock, python = checkout / "locked.txt", checkout / ".venv/bin/python"
    lock.write_text(NOTHING)
    python.parent.mkdir(parents=True)
    python.symlink_to("/nowhere/python3")
    bootstrap.get_stamp_path(lock).write_text(bootstrap.hash_file(lock))

    bootstrap.main(["locked.txt"])

    assert bootstrap.is_installed(lock)
