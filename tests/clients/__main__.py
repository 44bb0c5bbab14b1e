"""Use each client against a real server, and print which of them work: `python -m tests.clients`."""

import json
import os
import subprocess
import sys
import textwrap
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.clients.catalogue import CLIENTS, Client, Runtime
from tests.clients.installation import INSTALLED, PYTHON, CannotInstall, find_missing_program, install
from tests.clients.samples import PAGE, follow_recipe, pin_versions, read_samples
from tests.clients.site import ClientSite
from tests.deployment.processes import ROOT

PATIENCE = 300.0  # seconds for the script or the recipe of a client
WIDTH = 100  # characters of the column `how`


class Result(NamedTuple):
    """What a client has proved. `error` is empty if it works; `missing` is the program without which it was not run."""

    client: Client
    version: str = ""
    steps: Sequence[str] = ()
    error: str = ""
    missing: str = ""
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        return f"no {self.missing}" if self.missing else "no" if self.error else "yes"


class Failed(Exception):
    """A client does not work. The message is the reason."""


def main(arguments: Sequence[str]) -> int:
    parser = ArgumentParser(prog="make clients", description=__doc__)
    parser.add_argument("--clients", default="", help="names, separated by commas; all without it")
    parser.add_argument("--require-all", action="store_true", help="fail if a program is missing that a client needs")
    options = parser.parse_args(arguments)
    try:
        clients = choose_clients(options.clients)
        results = run_clients(clients)
    except (CannotInstall, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print_table(results)
    failed = [result for result in results if result.error or (result.missing and options.require_all)]
    skipped = [result for result in results if result.missing and not options.require_all]
    print(f"{len(results) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed else 0


def choose_clients(names: str) -> list[Client]:
    chosen = {name for name in names.split(",") if name}
    unknown = chosen - {client.name for client in CLIENTS}
    if unknown:
        raise ValueError(
            f"There is no client {', '.join(unknown)}. There are {', '.join(each.name for each in CLIENTS)}."
        )
    return [client for client in CLIENTS if not chosen or client.name in chosen]


def run_clients(clients: list[Client]) -> list[Result]:
    """Install what the clients need while the server starts, and run them. Returns results in the same order."""
    missing = {client: find_missing_program(client) for client in clients}
    runtimes = {client.runtime for client in clients if not missing[client]}
    with TemporaryDirectory(prefix="clients-") as place, ThreadPoolExecutor(os.cpu_count()) as pool:
        installations = [pool.submit(install, runtime) for runtime in runtimes]
        site = ClientSite(Path(place) / "site")
        for installation in installations:
            installation.result()
        pins = pin_versions()
        with site.serve():
            # Recipes print the newest posts, and the scripts of clients create some.
            recipes = {each: pool.submit(run_recipe, each, site, pins) for each in clients if not missing[each]}
            wait(recipes.values())
            results = pool.map(lambda each: run_client(each, site, recipes[each]), recipes)
            return [Result(each, missing=missing[each]) if missing[each] else next(results) for each in clients]


def run_client(client: Client, site: ClientSite, recipe: Future[list[str]]) -> Result:
    start = time.monotonic()
    steps: list[str] = []
    error = ""
    try:
        with ExitStack() as stack:
            environment = {**os.environ, **site.environment}
            folder = INSTALLED / client.runtime.value / client.name
            folder.mkdir(exist_ok=True)
            if client.manifest:
                run(["npm", "run", "--silent", "manifest"], folder, environment)
                environment["TRUSTED_GRAPHQL_URL"] = stack.enter_context(site.serve_trusted(folder / client.manifest))
            if (client.sources / "client.py").exists() or (client.sources / "package.json").exists():
                steps += run_own_script(client, folder, environment)
            steps += recipe.result()
        error = "" if steps else "It proved nothing."
    except (Failed, subprocess.TimeoutExpired, AssertionError) as failure:
        error = str(failure)
    return Result(client, find_version(client), steps, error, seconds=time.monotonic() - start)


def run_own_script(client: Client, folder: Path, environment: dict[str, str]) -> list[str]:
    if client.runtime is Runtime.PYTHON:
        return run([str(PYTHON), "client.py"], folder, environment | {"PATH": f"{PYTHON.parent}:{environment['PATH']}"})
    if "client" not in json.loads((folder / "package.json").read_text()).get("scripts", {}):
        return []
    return run(["npm", "run", "--silent", "client"], folder, environment)


def run_recipe(client: Client, site: ClientSite, pins: dict[str, str]) -> list[str]:
    """Follow the recipe of the documentation for a client, if there is one. Raises `Failed`.

    Of the variables of the suite, a recipe has only the API key.
    """
    samples = [sample for sample in read_samples() if sample.client == client.name]
    if not samples:
        return []
    folder = INSTALLED / "recipes" / client.name
    environment = {**os.environ, **pins, "API_KEY": site.environment["API_KEY"]}
    wrong = list(follow_recipe(samples, folder, site.ports, environment, PATIENCE))
    if wrong:
        raise Failed("\n".join(f"{PAGE.name}:{each}" for each in wrong)[-6000:])
    return [f"the recipe of {PAGE.relative_to(ROOT)}"]


def run(command: list[str], folder: Path, environment: dict[str, str]) -> list[str]:
    """Run a command. Returns the lines that it prints. Raises `Failed`."""
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}"[-6000:])
    return done.stdout.splitlines()


def find_version(client: Client) -> str:
    """Return the installed version of the client's package."""
    if client.runtime is Runtime.PYTHON and client.package != "curl":
        code = f"from importlib.metadata import version; print(version({client.package!r}))"
        return run([str(PYTHON), "-c", code], ROOT, dict(os.environ))[0]
    if client.package in ("curl", "node"):
        printed = run([client.package, "--version"], ROOT, dict(os.environ))[0]
        return printed.removeprefix("curl ").removeprefix("v").split()[0]
    folder = INSTALLED / "javascript"
    for modules in (folder / client.name / "node_modules", folder / "node_modules"):
        package = modules / client.package / "package.json"
        if package.exists():
            version: str = json.loads(package.read_text())["version"]
            return version
    return ""


def print_table(results: Sequence[Result]) -> None:
    names = max(len(result.client.name) for result in results)
    versions = max(len("version"), *(len(result.version) for result in results))
    print(f"\n{'client':{names}}  {'version':{versions}}  {'works':7}  {'time':>5}  how")
    for result in results:
        first, *rest = textwrap.wrap("; ".join(result.steps), WIDTH) or [""]
        start = f"{result.client.name:{names}}  {result.version:{versions}}  {result.verdict:7}"
        print(f"{start}  {result.seconds:4.0f}s  {first}")
        for line in rest:
            print(" " * (len(start) + 9) + line)
    for result in results:
        if result.error:
            print(f"\n{result.client.name} does not work:\n{textwrap.indent(result.error, '  ')}")
    print()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
