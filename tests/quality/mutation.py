"""Change the code in small ways and require that tests fail: `make mutation`.

mutmut writes each change (a mutant) into a copy of the project and runs the tests that call the changed function. A
mutant that no test notices fails the run, unless mutants.toml lists it with a reason. pyproject.toml names the modules
and the tests (`tool.mutmut`).
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mutmut.mutation.data import SourceFileMutationData
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import walk_mutatable_files

from tests.quality.configuration import ROOT

COPY = ROOT / "mutants"
TYPE_OF_CAST = re.compile(r'\bcast\((?:"[^"]*"|None), ')
NOTICED = {"killed", "timeout", "caught by type check"}
NOT_RUN = 255  # an error of mutmut or pytest itself, such as an unknown id of a test


class Mutant(NamedTuple):
    """A change of a function, like `policy.reach`. The changed lines are stripped of their indentation."""

    function: str
    before: str
    after: str


def main() -> int:
    os.chdir(ROOT)
    shutil.rmtree(COPY, ignore_errors=True)
    done = subprocess.run(
        [sys.executable, "tests/quality/mutation_runner.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        print(done.stdout.decode().replace("\r", "\n"))
        return done.returncode
    statuses = read_statuses()
    unnoticed = {read_mutant(path, name): status for path, name, status in statuses if status not in NOTICED}
    unnoticed = {mutant: status for mutant, status in unnoticed.items() if not is_equivalent(mutant)}
    accepted = read_accepted()
    for mutant in accepted.keys() - unnoticed.keys():
        print(f"note: no longer survives, remove it from mutants.toml:\n{describe(mutant)}")
    new = {mutant: status for mutant, status in unnoticed.items() if mutant not in accepted}
    for mutant, status in new.items():
        print(f"error: {status}:\n{describe(mutant)}")
    counts = Counter(status for _, _, status in statuses)
    print(
        f"{len(statuses)} mutants: "
        + ", ".join(f"{number} {status}" for status, number in counts.most_common())
        + f"; {len(unnoticed) - len(new)} of them accepted in mutants.toml, {len(new)} not."
    )
    return 1 if new else 0


def read_statuses() -> list[tuple[str, str, str]]:
    """Return each mutant's file, name and status."""
    statuses = []
    for path in walk_mutatable_files():
        data = SourceFileMutationData(path=path)
        data.load()
        statuses += [(str(path), name, describe_exit(code)) for name, code in data.exit_code_by_key.items()]
    return statuses


def describe_exit(code: int | None) -> str:
    """Return the status of an exit code. mutmut calls the tests that it could not run a time-out, which is noticed."""
    return "not run" if code == NOT_RUN else status_by_exit_code[code]


def read_mutant(path: str, name: str) -> Mutant:
    """Read a mutant of the run, like `contentapi.policy.x_reach__mutmut_3` or `...costs.xǁSumǁof__mutmut_1`."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant  # takes as long as the other imports together

    module, mangled = name.rpartition("__mutmut_")[0].rsplit(".", 1)
    function = mangled.removeprefix("xǁ").removeprefix("x_").replace("ǁ", ".")
    before, after = read_changed_lines(get_diff_for_mutant(name, path=path).splitlines())
    return Mutant(f"{module.rpartition('.')[2]}.{function}", before, after)


def read_changed_lines(diff: Sequence[str]) -> tuple[str, str]:
    """Return the lines that a unified diff takes away, and those that it adds."""
    removed = [line[1:].strip() for line in diff if line.startswith("-") and not line.startswith("---")]
    added = [line[1:].strip() for line in diff if line.startswith("+") and not line.startswith("+++")]
    return "\n".join(removed), "\n".join(added)


def is_equivalent(mutant: Mutant) -> bool:
    """Whether nothing differs but the type in `typing.cast(TYPE, value)`, which is not used at runtime."""
    return TYPE_OF_CAST.sub("cast(", mutant.before) == TYPE_OF_CAST.sub("cast(", mutant.after)


def read_accepted() -> dict[Mutant, str]:
    """Return the mutants that need not be noticed, with the reasons."""
    entries = tomllib.loads((ROOT / "tests/quality/mutants.toml").read_text()).get("accepted", [])
    return {Mutant(entry["function"], entry["before"], entry["after"]): entry["reason"] for entry in entries}


def describe(mutant: Mutant) -> str:
    """Return a mutant as an entry of mutants.toml."""
    return "\n".join(["[[accepted]]", *toml_lines(mutant), 'reason = ""', ""])


def toml_lines(mutant: Mutant) -> Iterator[str]:
    for name, value in mutant._asdict().items():
        yield f"{name} = '{value}'" if "\n" not in value and "'" not in value else f"{name} = '''{value}'''"


if __name__ == "__main__":
    sys.exit(main())
