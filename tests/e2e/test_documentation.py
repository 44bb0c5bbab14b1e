"""The runnable examples of the documentation, in the order of its pages, on one server that `make run` starts."""

import json
import subprocess

import pytest

from tests.deployment.checkout import Checkout
from tests.deployment.processes import ROOT
from tests.e2e.documentation import Example, differences, documents, examples, run_example

pytestmark = pytest.mark.servers


def test_every_runnable_example_works_and_gets_its_response(checkout: Checkout, subtests: pytest.Subtests) -> None:
    run = checkout.run().wait_until_ready()

    with subtests.test("make run prints the first query of the README"):
        query = examples(ROOT / "README.md")[0].block.text.replace("localhost:8000", f"localhost:{run.port}").split()
        assert run.printed.partition("A first query:")[2].split()[: len(query)] == query
    for document in documents(ROOT):
        for example in examples(document):
            with subtests.test(str(example)):
                check_output(example, run_example(example, run))


def check_output(example: Example, finished: subprocess.CompletedProcess[str]) -> None:
    assert finished.returncode == 0, finished.stdout + finished.stderr
    if example.response:
        found = list(differences(json.loads(example.response.text), json.loads(finished.stdout)))
        assert found == [], finished.stdout
