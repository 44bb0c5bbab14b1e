"""The virtual environment is really made, from locks that need no package index."""

from pathlib import Path

import pytest

from contentapi import bootstrap

pytestmark = pytest.mark.processes

NOTHING = "--no-index\n"
NOT_TO_BE_HAD = f"--no-index\nnothing-of-this-name==1 --hash=sha256:{'0' * 64}\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    return tmp_path


def test_an_environment_is_made_once_and_again_when_its_lock_changes(
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


def test_an_installation_that_fails_is_said_and_leaves_nothing_that_counts_as_installed(checkout: Path) -> None:
    good, bad = checkout / "good.txt", checkout / "bad.txt"
    good.write_text(NOTHING)
    bad.write_text(NOT_TO_BE_HAD)
    bootstrap.main(["good.txt"])

    with pytest.raises(SystemExit, match=r"^The locked dependencies could not be installed"):
        bootstrap.main(["good.txt", "bad.txt"])

    assert not bootstrap.is_installed(good)
    assert not bootstrap.is_installed(bad)


def test_an_environment_whose_python_is_gone_is_made_anew(checkout: Path) -> None:
    (checkout / "locked.txt").write_text(NOTHING)
    bootstrap.main(["locked.txt"])
    python = checkout / ".venv/bin/python"
    python.unlink()
    python.symlink_to("/nowhere/python3")

    bootstrap.main(["locked.txt"])

    assert bootstrap.is_installed(checkout / "locked.txt")
