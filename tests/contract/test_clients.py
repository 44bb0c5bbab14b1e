"""The client suite (`make clients`) runs everything that is in its folders and on docs/clients.md."""

import json
import re
from itertools import groupby
from pathlib import Path

import pytest

from tests.clients.catalogue import CLIENTS, HERE, Runtime
from tests.clients.samples import PAGE, read_samples
from tests.e2e.documentation import RUNNABLE
from tests.markdown import find_fenced_blocks

NAMES = {client.name for client in CLIENTS}
RECIPES = {client: list(samples) for client, samples in groupby(read_samples(), lambda sample: sample.client)}


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
    sampled = {sample.client for sample in read_samples()}

    idle = [client.name for client in CLIENTS if client.name not in sampled and not has_script(client.sources)]

    assert idle == []


def has_script(folder: Path) -> bool:
    package = folder / "package.json"
    scripts = json.loads(package.read_text()).get("scripts", {}) if package.exists() else {}
    return "client" in scripts or (folder / "client.py").exists()


def test_every_block_of_the_page_belongs_to_a_recipe() -> None:
    samples = read_samples()
    known = {sample.block.line for sample in samples}
    known |= {sample.response.line for sample in samples if sample.response}
    blocks = find_fenced_blocks(PAGE.read_text())

    assert [block for block in blocks if block.line not in known and block.info not in RUNNABLE] == []
    assert {sample.client for sample in samples} <= NAMES
    assert [sample for sample in samples if not sample.file and not sample.block.info.startswith("sh ")] == []
    assert [sample for sample in samples if sample.file and sample.response] == []


@pytest.mark.parametrize("client", RECIPES)
def test_recipe_begins_with_its_installation_and_ends_with_output(client: str) -> None:
    samples = RECIPES[client]

    assert samples[-1].response
    if client != "curl":
        assert re.search(r"^(npm|pip) install ", samples[0].block.text, re.MULTILINE)


def test_reader_sees_the_name_of_each_file() -> None:
    lines = PAGE.read_text().splitlines()
    hidden = [
        sample.file
        for sample in read_samples()
        if sample.file
        and not any(f"`{sample.file}`" in line for line in lines[sample.block.line - 4 : sample.block.line])
    ]

    assert hidden == []


def test_recipes_read_the_key_from_the_environment() -> None:
    texts = [sample.block.text for sample in read_samples()]

    assert not any("demo_api_key" in text for text in texts)
    assert sum("API_KEY" in text for text in texts) >= 3


@pytest.mark.parametrize("client", [name for name in RECIPES if (HERE / "javascript" / name).is_dir()])
def test_recipe_installs_the_major_versions_of_the_client(client: str) -> None:
    described = json.loads((HERE / "javascript" / client / "package.json").read_text())["dependencies"]
    installed = re.findall(r"(\S+)@([\d.]+)", re.findall(r"^npm install (.*)$", RECIPES[client][0].block.text, re.M)[0])

    assert installed
    for package, version in installed:
        pinned = described.get(package, "").lstrip("^")
        assert not pinned or f"{pinned}.".startswith(f"{version}."), package
