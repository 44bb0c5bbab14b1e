"""The files of deploy/: schemas of Kubernetes and of Compose, hadolint, and agreement with each other and the code."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema_rs import Draft202012Validator

from contentapi.conf.environment import Environment
from tests.e2e.units import UNITS, read_unit

pytestmark = pytest.mark.thorough
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
KUBERNETES_VERSION = "1.30"  # an old version in wide use; the files use stable parts only
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
APPLICATION = ("migrate", "server", "worker", "stream")
SERVICES = sorted(path.name for path in UNITS.glob("*.service"))
MEMORY = re.compile(r"[1-9][0-9]*(?:[gmGM]|[GM]i)")
# Variables of Python, libraries and Compose, which the project does not define.
FOREIGN_VARIABLES = {
    *("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PATH", "HOME", "TMPDIR"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
}


def read_manifests() -> Iterator[dict[str, Any]]:
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml")):
        if path.name != "kustomization.yaml":
            yield from yaml.safe_load_all(path.read_text())


MANIFESTS = list(read_manifests())
NAMES = [f"{manifest['kind']}-{manifest['metadata']['name']}" for manifest in MANIFESTS]


def find_pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the name and the specification of each pod."""
    for name, manifest in zip(NAMES, MANIFESTS, strict=True):
        spec = manifest.get("spec", {})
        template = spec.get("jobTemplate", {}).get("spec", spec).get("template")
        if template:
            yield name, template["spec"]


PODS = dict(find_pods())


@pytest.mark.parametrize("manifest", MANIFESTS, ids=NAMES)
def test_manifest_conforms_to_the_schema_of_kubernetes(manifest: dict[str, Any]) -> None:
    import kubernetes_validate  # takes as long as many tests, and is imported by the process that needs it

    kubernetes_validate.validate(manifest, KUBERNETES_VERSION, strict=True)


def test_kustomization_names_every_manifest() -> None:
    listed = yaml.safe_load((DEPLOY / "kubernetes/kustomization.yaml").read_text())["resources"]

    assert sorted([*listed, "kustomization.yaml"]) == sorted(path.name for path in (DEPLOY / "kubernetes").iterdir())


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomization_leaves_the_controller_in_its_namespace() -> None:
    command = ["kubectl", "kustomize", str(DEPLOY / "kubernetes")]
    built = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    metadata = [manifest["metadata"] for manifest in yaml.safe_load_all(built)]

    assert len(metadata) == len(MANIFESTS)
    assert {each["namespace"] for each in metadata} == {"contentapi", "ingress-nginx"}
    assert {each["name"] for each in metadata if each["namespace"] == "ingress-nginx"} == {
        "contentapi-headers",
        "ingress-nginx-controller",
    }


@pytest.mark.parametrize("pod", PODS.values(), ids=PODS)
def test_pod_is_restricted(pod: dict[str, Any]) -> None:
    (container,) = pod["containers"]

    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert MEMORY.fullmatch(container["resources"]["limits"]["memory"])


@pytest.mark.parametrize("name", SERVICES)
def test_unit_limits_its_memory(name: str) -> None:
    (limit,) = read_unit(name, "MemoryMax")

    assert MEMORY.fullmatch(limit)


def test_ingress_does_not_route_readyz() -> None:
    """A Service without a selector has no pods. An exact path takes precedence over `/`."""
    services = {each["metadata"]["name"]: each["spec"] for each in MANIFESTS if each["kind"] == "Service"}
    (ingress,) = (
        manifest["spec"]
        for manifest in MANIFESTS
        if (manifest["kind"], manifest["metadata"]["name"]) == ("Ingress", "contentapi")
    )
    (rule,) = ingress["rules"]
    routes = {(path["pathType"], path["path"]): path["backend"]["service"]["name"] for path in rule["http"]["paths"]}

    assert routes == {
        ("Exact", "/readyz"): "contentapi-nothing",
        ("Exact", "/events/stream"): "contentapi-stream",
        ("Exact", "/v1/events/stream"): "contentapi-stream",
        ("Prefix", "/"): "contentapi",
    }
    assert "selector" not in services["contentapi-nothing"]
    assert "selector" in services["contentapi"]


def test_server_is_replaced_without_a_gap() -> None:
    (server,) = (manifest["spec"] for manifest in MANIFESTS if manifest["metadata"]["name"] == "contentapi-server"
                 and manifest["kind"] == "Deployment")  # fmt: skip
    (container,) = server["template"]["spec"]["containers"]
    probes = {name: container[name]["httpGet"]["path"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}
    waiting = int(container["lifecycle"]["preStop"]["exec"]["command"][1])

    assert server["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert probes == {
        "startupProbe": "/healthz",
        "readinessProbe": "/readyz?exclude=redis,worker",
        "livenessProbe": "/healthz",
    }
    assert waiting + 30 < server["template"]["spec"]["terminationGracePeriodSeconds"]


def test_compose_file_conforms_to_the_schema_of_compose() -> None:
    schema = json.loads((files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json").read_text())

    Draft202012Validator(schema).validate(COMPOSE)


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_container_is_restricted(name: str) -> None:
    service = COMPOSE["services"][name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "healthcheck" in service
    assert bool(service.get("ports")) == (name == "caddy")
    assert MEMORY.fullmatch(service["deploy"]["resources"]["limits"]["memory"])


def test_images_have_exact_versions() -> None:
    """A tag such as `postgres:18` is another image tomorrow."""
    images = [service["image"] for name, service in COMPOSE["services"].items() if name not in APPLICATION]
    images += re.findall(r"^ARG \w+=(\S+)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)

    assert len(images) == 5
    assert [image for image in images if not re.search(r"@sha256:|:[0-9]+\.[0-9]+(\.[0-9]+)?(-[\w-]+)?$", image)] == []


def test_redis_of_compose_needs_the_password_of_the_servers() -> None:
    redis, server = (COMPOSE["services"][name] for name in ("redis", "server"))
    option = redis["command"].index("--requirepass")

    password = redis["command"][option + 1]
    assert password == redis["environment"]["REDISCLI_AUTH"] == "${REDIS_PASSWORD:?set it in deploy/.env}"
    assert server["environment"]["REDIS_URL"] == f"redis://:{password}@redis:6379/0"


def test_compose_migrates_before_servers_and_worker_start() -> None:
    conditions = [COMPOSE["services"][name]["depends_on"]["migrate"] for name in ("server", "worker", "stream")]

    assert conditions == [{"condition": "service_completed_successfully"}] * 3
    assert COMPOSE["networks"]["internal"] == {"internal": True}


def test_hadolint_accepts_the_dockerfile() -> None:
    command = [str(Path(sys.executable).with_name("hadolint")), "--no-color", str(DEPLOY / "Dockerfile")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def read_variables() -> Iterator[tuple[str, str]]:
    """Return a file and the name of each variable that it sets for the application."""
    for name in re.findall(r"^#? ?([A-Z_]+)=", (DEPLOY / "contentapi.env.example").read_text(), re.MULTILINE):
        yield "contentapi.env.example", name
    for manifest in MANIFESTS:
        if manifest["kind"] in ("ConfigMap", "Secret") and "namespace" not in manifest["metadata"]:
            yield from (("kubernetes", name) for name in manifest.get("data") or manifest["stringData"])
    for service in APPLICATION:
        yield from (("compose.yaml", name) for name in COMPOSE["services"][service]["environment"])
    for path in (DEPLOY / "systemd").rglob("*.*"):
        if path.is_file():
            for line in re.findall(r"^Environment=(.*)$", path.read_text(), re.MULTILINE):
                yield from ((path.name, pair.split("=")[0]) for pair in line.split())


def test_every_variable_is_a_setting() -> None:
    settings = {name.upper() for name in Environment.__struct_fields__} | FOREIGN_VARIABLES

    assert [(file, name) for file, name in read_variables() if name not in settings] == []


def test_example_of_the_environment_has_the_required_variables() -> None:
    names = {name for file, name in read_variables() if file == "contentapi.env.example"}

    assert names >= {"DATABASE_URL", "SECRET_KEY", "JWT_PRIVATE_KEY", "ALLOWED_HOSTS", "CONTENTAPI_PUBLIC_URL"}
