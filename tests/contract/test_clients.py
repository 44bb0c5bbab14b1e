"""The client suite (`make clients`) runs everything that is in its folders and on docs/clients.md."""

import json
from pathlib import Path

from tests.clients.catalogue import CLIENTS, HERE, Runtime
from tests.clients.samples import PAGE, RESPONSE, read_samples
from tests.markdown import find_fenced_blocks

NAMES = {client.name for client in CLIENTS}


def test_every_folder_is_a_client_of_the_catalogue() -> None:
    folders = {
        path.name
        for runtime in Runtime
        for path in (HERE / runtime.value).iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }

    assert folders <= NAMES
    assert len(NAMES) == len(CLIENTS)


def test_every_client_has_a_script_or_a_sample() -> None:
    sampled = {sample.client for sample in read_samples() if sample.is_run}

    idle = [client.name for client in CLIENTS if client.name not in sampled and not has_script(client.sources)]

    assert idle == []


def has_script(folder: Path) -> bool:
    package = folder / "package.json"
    scripts = json.loads(package.read_text()).get("scripts", {}) if package.exists() else {}
    return "client" in scripts or (folder / "client.py").exists()


def test_every_block_of_the_page_is_a_sample_of_a_client_or_a_response() -> None:
    samples = read_samples()
    lines = {sample.block.line for sample in samples}
    others = [
        block for block in find_fenced_blocks(PAGE.read_text()) if block.line not in lines and block.info != RESPONSE
    ]

    assert others == []
    assert {sample.client for sample in samples} <= NAMES
    assert [sample.file for sample in samples if not sample.is_run and "file=" not in sample.block.info] == []


def test_the_last_sample_of_each_client_is_compared() -> None:
    """The last sample of a client has a response: what the others write or generate is used."""
    last = {sample.client: sample for sample in read_samples()}

    assert [sample.client for sample in last.values() if sample.response is None] == []


def test_the_lock_file_has_every_package() -> None:
    folder = HERE / "javascript"
    locked = json.loads((folder / "package-lock.json").read_text())["packages"]

    for package in folder.glob("*/package.json"):
        described = json.loads(package.read_text())
        name = package.parent.name
        assert locked[name]["dependencies"] == described["dependencies"], name
