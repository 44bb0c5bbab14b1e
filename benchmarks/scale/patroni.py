"""The files of deploy/patroni with the values of a host, and what Patroni reports of a cluster."""

import json
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from benchmarks.places import ROOT
from contentapi.db.embedded.programs import PROGRAMS

FILES = ROOT / "deploy" / "patroni"


class Member(NamedTuple):
    """A host as Patroni sees it. `role` is `leader`, `sync_standby` or `replica`."""

    name: str
    role: str
    state: str
    timeline: int

    @property
    def is_leader(self) -> bool:
        return self.role == "leader"


def read_cluster(address: str) -> list[Member]:
    """Return the members that Patroni on a host knows, or an empty list if it does not respond within a second."""
    try:
        with urllib.request.urlopen(f"http://{address}:8008/cluster", timeout=1) as response:
            members = json.load(response)["members"]
    except (OSError, ValueError):
        return []
    return [Member(each["name"], each["role"], each["state"], each.get("timeline", 0)) for each in members]


def read_example(name: str, values: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of an example of an environment, with other values for some of them.

    Raises `ValueError` for a value whose variable the example does not have.
    """
    lines = [line for line in (FILES / name).read_text().splitlines() if line and not line.startswith("#")]
    example = dict(line.split("=", 1) for line in lines)
    if unknown := values.keys() - example.keys():
        raise ValueError(f"{name} has no {', '.join(sorted(unknown))}.")
    return {**example, **values}


def build_environment(
    host: str, address: str, etcds: Sequence[str], folder: Path, passwords: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of Patroni on a host, whose data are in `folder`."""
    return read_example("patroni.env.example", {
        "PATRONI_NAME": host,
        "PATRONI_RESTAPI_LISTEN": f"{address}:8008",
        "PATRONI_RESTAPI_CONNECT_ADDRESS": f"{address}:8008",
        "PATRONI_POSTGRESQL_LISTEN": f"{address},127.0.0.1:5432",
        "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"{address}:5432",
        "PATRONI_POSTGRESQL_DATA_DIR": str(folder / "data" / host / "postgres"),
        "PATRONI_POSTGRESQL_BIN_DIR": str(PROGRAMS),
        "PATRONI_POSTGRESQL_PGPASS": str(folder / "data" / host / "pgpass"),
        "PATRONI_ETCD3_HOSTS": ",".join(etcds),
        "PATRONI_RESTAPI_PASSWORD": passwords["restapi"],
        "PATRONI_SUPERUSER_PASSWORD": passwords["superuser"],
        "PATRONI_REPLICATION_PASSWORD": passwords["replication"],
        "PATRONI_REWIND_PASSWORD": passwords["rewind"],
    })  # fmt: skip


def write_configuration(host: str, folder: Path) -> Path:
    """Write patroni.yaml for a host. Only the folder of its sockets is another: the hosts share one file system."""
    configuration = yaml.safe_load((FILES / "patroni.yaml").read_text())
    configuration["postgresql"]["parameters"]["unix_socket_directories"] = str(folder / "data" / host)
    path = folder / f"{host}.yaml"
    path.write_text(yaml.safe_dump(configuration))
    return path
