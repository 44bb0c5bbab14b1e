"""A typed client that graphql-codegen makes of the SDL: it compiles, and it works against a real server."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from contentapi.frontend.build import INSTALL, has_node
from tests.contract.test_typed_client import CLIENT, CONTENT
from tests.deployment.live_server import Site
from tests.deployment.processes import ROOT

pytestmark = [
    pytest.mark.servers,
    pytest.mark.thorough,
    pytest.mark.skipif(not has_node(), reason="Node and npm are not installed"),
]


def npm(folder: Path, *command: str) -> str:
    """Run npm. Returns what it said where it failed, else nothing."""
    done = subprocess.run(["npm", *command], cwd=folder, capture_output=True, text=True, check=False)
    return f"{done.stdout}{done.stderr}" if done.returncode else ""


@pytest.fixture(scope="module")
def generated() -> Iterator[Path]:
    """The client with what graphql-codegen made for it, in a folder that goes with it: it has a hundred megabytes."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copytree(CLIENT, folder, dirs_exist_ok=True)
        (folder / "content.graphql").write_text(CONTENT)
        (folder / "sdl").mkdir()
        for file in (ROOT / "schema").glob("*.graphql"):
            shutil.copy(file, folder / "sdl")
        assert npm(folder, *INSTALL[1:]) == ""
        assert npm(folder, "run", "generate") == ""
        yield folder


def test_typed_client_compiles_and_works_against_a_server(generated: Path, site: Site) -> None:
    assert npm(generated, "run", "compile") == ""

    with site.serve("granian") as server:
        command = ["node", "compiled/client.js", f"{server.address}/graphql", site.key]
        printed = subprocess.run(command, cwd=generated, capture_output=True, text=True, check=False)

    assert printed.stderr == ""
    assert json.loads(printed.stdout) == {
        "role": "admin",
        "states": ["draft", "scheduled", "draft", "published", "archived"],
        "title": "Typed again",
        "newest": {"title": "Typed again", "tags": ["a"], "comments": ["First."]},
        "newestOfAuthor": "Typed again",
        "nodes": ["Post", "Author", None],
        "comment": "First.",
        "authors": 1,
        "order": {"total": 12.5, "actions": ["cancel", "pay"], "status": "paid"},
        "newestOrder": True,
        "deletedTheUser": True,
        "deletedTheComment": True,
        "deletedThePost": True,
        "post": None,
    }


MISTAKES = {
    ("newest.title,", "newest.titel,"): "Property 'titel' does not exist",
    ('body: "By a client."', "body: 1"): "Type 'number' is not assignable to type 'string'",
    ('status: "published"', 'status: "lost"'): "Type '\"lost\"' is not assignable to type",
    ("posts[0]?.title", "posts[0].title"): "Object is possibly 'undefined'",
}


def test_unknown_field_does_not_compile(generated: Path) -> None:
    source = wrong = (CLIENT / "client.ts").read_text()
    for right, mistake in MISTAKES:
        assert right in source
        wrong = wrong.replace(right, mistake)

    (generated / "client.ts").write_text(wrong)
    said = npm(generated, "run", "compile")
    (generated / "client.ts").write_text(source)

    assert [message for message in MISTAKES.values() if message not in said] == []
