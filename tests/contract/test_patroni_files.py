"""The files of deploy/patroni: the promises of docs/operations/postgresql.md, and agreement with each other."""

import re

import pytest
import yaml

from benchmarks.scale.deployment import find_haproxy
from benchmarks.scale.patroni import FILES, read_example
from tests.deployment.processes import run_program

CLUSTER = yaml.safe_load((FILES / "patroni.yaml").read_text())["bootstrap"]["dcs"]
SHORTEST_LEASE = 20  # seconds, of Patroni
ADDRESS = re.compile(r"10\.0\.0\.\d+")


def test_primary_that_is_cut_off_ends_before_its_lease() -> None:
    assert CLUSTER["ttl"] == SHORTEST_LEASE
    assert CLUSTER["loop_wait"] + 2 * CLUSTER["retry_timeout"] <= CLUSTER["ttl"]


def test_no_write_is_acknowledged_by_one_host_alone() -> None:
    assert CLUSTER["synchronous_mode"] is True
    assert CLUSTER["synchronous_mode_strict"] is True
    assert "synchronous_commit" not in CLUSTER["postgresql"]["parameters"]


def test_primary_survives_the_loss_of_etcd_and_an_old_one_is_rewound() -> None:
    assert CLUSTER["failsafe_mode"] is True
    assert CLUSTER["postgresql"]["use_pg_rewind"] is True


def test_passwords_are_placeholders() -> None:
    passwords = {name: value for name, value in read_example("patroni.env.example", {}).items() if "PASSWORD" in name}

    assert set(passwords.values()) == {"CHANGE"}
    assert "password" not in (FILES / "patroni.yaml").read_text().replace("passwords are in patroni.env", "")


def test_examples_name_three_hosts_with_postgresql_and_three_others_with_etcd() -> None:
    databases = set(ADDRESS.findall((FILES / "haproxy.cfg").read_text()))
    etcds = set(ADDRESS.findall(read_example("patroni.env.example", {})["PATRONI_ETCD3_HOSTS"]))

    assert len(databases) == len(etcds) == 3
    assert not databases & etcds
    assert set(ADDRESS.findall(read_example("etcd.env.example", {})["ETCD_INITIAL_CLUSTER"])) == etcds
    assert read_example("patroni.env.example", {})["PATRONI_POSTGRESQL_CONNECT_ADDRESS"].split(":")[0] in databases


@pytest.mark.servers
def test_haproxy_accepts_its_file() -> None:
    try:
        haproxy = find_haproxy()
    except SystemExit as missing:
        pytest.skip(str(missing))

    checked = run_program(haproxy, "-c", "-f", FILES / "haproxy.cfg")

    assert checked.returncode == 0, checked.stderr


def test_documents_name_every_file() -> None:
    page = (FILES.parents[1] / "docs/operations/postgresql.md").read_text()

    assert [path.name for path in FILES.iterdir() if path.name not in page] == []
