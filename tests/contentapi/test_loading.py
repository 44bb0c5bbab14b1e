"""Commands and servers collect no garbage while they load modules, and do so afterwards. They load no jobs.

A command of an operator loads neither the schema nor the pages of the desk.
"""

import subprocess
import sys

import pytest

from tests.deployment.processes import ROOT

PRINT = "import gc, sys; print(gc.isenabled(), gc.get_freeze_count() > 100_000, 'pycurl' in sys.modules)"
CHECK = """
import sys
from django.core.management import load_command_class
for each in sys.argv[1:]:
    command = load_command_class(*each.split("."))
    command.check(**command.get_check_kwargs({"database": "default"}))
    print(each, {"contentapi.urls", "contentapi.schema", "contentapi.desk.bases"} & sys.modules.keys())
"""


def run_python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.servers
@pytest.mark.parametrize(
    "arguments",
    [["manage.py", "shell", "--verbosity", "0", "-c", PRINT], ["-c", f"import contentapi.wsgi; {PRINT}"]],
    ids=["command", "server"],
)
def test_garbage_is_collected_after_the_start_and_no_job_is_loaded(arguments: list[str]) -> None:
    assert run_python(*arguments) == "True True False"


@pytest.mark.servers
def test_checks_of_a_command_load_neither_the_schema_nor_the_pages_of_the_desk() -> None:
    names = ("users.create_user", "blog.import_posts", "contentapi.migrate")

    printed = run_python("-c", f"import django; django.setup(){CHECK}", *names)

    assert printed.splitlines() == [f"{name} set()" for name in names]
