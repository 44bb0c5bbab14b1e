"""The build of the explorer and the API reference; without Node, or without a registry, it prints why not."""

import json
from pathlib import Path

import pytest

from contentapi.frontend import BUILT, HERE, build, hash_sources
from tests.concurrency import run_in_threads

pytestmark = pytest.mark.servers

needs_node = pytest.mark.skipif(not build.has_node(), reason="Node and npm are not installed")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(build, "BUILT", tmp_path / "built")
    return tmp_path / "built"


@pytest.fixture
def without_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def without_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give npm an unreachable registry and an empty cache."""
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))


@pytest.mark.usefixtures("without_node")
def test_without_node_the_start_and_the_build_say_what_is_missing(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = (
        "The explorer and the API reference were not built: Node 18 or newer with npm is not installed. Until they "
        "are, browsers get plain pages at /graphql and /docs. Everything else works."
    )

    build.main(["--if-possible"])
    with pytest.raises(SystemExit) as error:
        build.main([])

    assert capsys.readouterr().err == f"{message} The next start tries again.\n"
    assert error.value.code == message
    assert not built.exists()


@needs_node
@pytest.mark.usefixtures("without_registry")
def test_start_continues_without_a_registry(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build.main(["--if-possible"])

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert said[0] == "Building the explorer and the API reference (once; about a minute)"
    assert said[1].startswith(
        "The explorer and the API reference were not built: npm could not install its packages (is a registry "
    )
    assert list(built.iterdir()) == []


@pytest.mark.usefixtures("without_node")
def test_existing_build_is_not_built_again(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (built / hash_sources()).mkdir(parents=True)

    build.main([])
    build.main(["--if-possible"])

    assert capsys.readouterr().err == ""


def test_concurrent_builds_build_once_and_delete_outdated_files(
    built: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def write_file(_: list[str], folder: Path, __: str) -> str:
        (folder / "made").mkdir(exist_ok=True)
        (folder / "made/explorer.js").touch()
        return ""

    monkeypatch.setattr(build, "has_node", lambda: True)
    monkeypatch.setattr(build, "run", write_file)  # instead of npm and Node
    monkeypatch.setattr(build, "download", lambda *_: built)
    monkeypatch.setattr(build, "extract_files", lambda *_: None)
    (built / "0123456789ab").mkdir(parents=True)
    (built / "arriving").mkdir()

    run_in_threads(build.build, 2)

    assert [path.relative_to(built).as_posix() for path in built.glob("*/*")] == [f"{hash_sources()}/explorer.js"]
    said = capfd.readouterr().err
    assert (said.count("Building"), said.count("are built")) == (1, 1)


@needs_node
@pytest.mark.thorough
def test_build_has_all_files_also_compressed_and_no_source_map() -> None:
    build.main([])  # unless they are built
    folder = BUILT / hash_sources()

    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}

    for name in ("explorer.js", "explorer.css", "graphql.worker.js", "reference.css", "scalar/standalone.esm.js"):
        assert {name, f"{name}.br", f"{name}.gz"} <= files
    assert [name for name in files if name.endswith(".map")] == []


def test_lock_file_has_a_hash_of_each_package_and_no_registry() -> None:
    lock = json.loads((HERE / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}

    assert len(packages) > 50
    assert [name for name, package in packages.items() if "integrity" not in package or "resolved" in package] == []


def test_prebuilt_package_with_another_hash_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some.tgz").write_bytes(b"something else")
    monkeypatch.setattr(build, "run", lambda *_: "some.tgz\n")  # instead of `npm pack`
    [(package, pinned)] = json.loads((HERE / "package.json").read_text())["prebuilt"].items()

    with pytest.raises(build.CannotBuild, match="another hash"):
        build.download(package, pinned, tmp_path)
