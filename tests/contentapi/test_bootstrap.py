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
    lock = checkout / "locked.txt"
    lock.write_text(NOTHING)

    for _ in range(2):
        bootstrap.main(["locked.txt"])
    once = capsys.readouterr().err
    lock.write_text(NOTHING + "# another\n")
    bootstrap.main(["locked.txt"])
    again = capsys.readouterr().err

    assert once == again == "Installing locked.txt into .venv (once; about a minute)\n"
    assert (checkout / ".venv/bin/python").exists()


def test_failed_installation_is_reported_and_counts_as_not_installed(checkout: Path) -> None:
    valid, invalid = checkout / "good.txt", checkout / "bad.txt"
    valid.write_text(NOTHING)
    invalid.write_text(UNAVAILABLE)
    bootstrap.main(["good.txt"])

    with pytest.raises(SystemExit, match=r"^The locked dependencies could not be installed"):
        bootstrap.main(["good.txt", "bad.txt"])

    assert not bootstrap.is_installed(valid)
    assert not bootstrap.is_installed(invalid)


@pytest.mark.thorough
def test_environment_without_its_python_is_created_again(checkout: Path) -> None:
    (checkout / "locked.txt").write_text(NOTHING)
    bootstrap.main(["locked.txt"])
    python = checkout / ".venv/bin/python"
    python.unlink()
    python.symlink_to("/nowhere/python3")

    bootstrap.main(["locked.txt"])

    assert bootstrap.is_installed(checkout / "locked.txt")
