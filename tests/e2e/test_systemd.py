"""The systemd units: the checks of systemd-analyze, and the notifications of the processes that the units start.

systemd does not run here. Some of a unit's restrictions are set by the test itself: no new privileges, and no memory
that is writable and executable (kernel 6.3 or newer).
"""

import ctypes
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory

import psutil
import pytest

from tests.deployment.checkout import Checkout, Run
from tests.deployment.ports import reserve
from tests.deployment.processes import is_listening, run_program, wait_until
from tests.e2e.units import INSTALLED, PATIENCE, UNITS, NotificationSocket, read_command, read_variables

pytestmark = pytest.mark.servers
needs_systemd_analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")

PR_SET_NO_NEW_PRIVS, PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 38, 65, 1
LIBC = ctypes.CDLL(None)
SERVICES = sorted(path.name for path in UNITS.glob("*.service"))
MAX_EXPOSURE = 15  # tenths; systemd rates an unprotected service 9.6, and calls 2.0 and less "OK"


@pytest.fixture
def installed_units(tmp_path: Path) -> Path:
    """Install the units below a root folder, with a program at each path that they name. Return the root."""
    folder = tmp_path / "etc/systemd/system"
    shutil.copytree(UNITS, folder)
    program = tmp_path / "opt/contentapi/.venv/bin/python"
    program.parent.mkdir(parents=True)
    program.symlink_to(shutil.which("true") or "/bin/true")
    for unit in folder.glob("*.service"):
        unit.write_text(unit.read_text().replace(INSTALLED, f"{tmp_path}{INSTALLED}"))
    return tmp_path


@needs_systemd_analyze
@pytest.mark.parametrize("name", sorted(path.name for path in UNITS.glob("*.*") if path.is_file()))
def test_systemd_accepts_the_unit(installed_units: Path, name: str) -> None:
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=one", name.replace("@.", "@8000.")]
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{installed_units}/etc/systemd/system:"}

    verified = run_program(*command, env=environment)

    assert (verified.returncode, verified.stderr) == (0, "")


@needs_systemd_analyze
@pytest.mark.parametrize("name", SERVICES)
def test_exposure_of_the_service_is_low(installed_units: Path, name: str) -> None:
    command = ["systemd-analyze", "security", "--offline=yes", f"--root={installed_units}"]
    rated = run_program(*command, f"--threshold={MAX_EXPOSURE}", name.replace("@.", "@8000."))

    assert rated.returncode == 0, rated.stdout + rated.stderr


@pytest.fixture
def notifications() -> Iterator[NotificationSocket]:
    with TemporaryDirectory() as folder:
        notifications = NotificationSocket(Path(folder))
        yield notifications
        notifications.close()


def restrict_process() -> None:
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    LIBC.prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)


def start(checkout: Checkout, command: list[str], variables: dict[str, str]) -> Run:
    """Start a service as its unit does. Its embedded database was created before, outside of the restrictions."""
    environment = checkout.environment(**variables)
    return Run(checkout, command, environment, prepare=restrict_process)


@pytest.fixture
def port() -> int:
    """Return a free port of four digits: the unit puts a 1 before it for the port of the metrics."""
    for port in SystemRandom().sample(range(2000, 8000), 100):  # not seeded, as other processes choose, too
        if reserve(port) and reserve(int(f"1{port}")):
            return port
    pytest.fail("There is no free port.")


def test_granian_notifies_unless_its_workers_hang(
    checkout: Checkout, notifications: NotificationSocket, port: int
) -> None:
    """It is ready when a worker is, resets the watchdog while one is alive, and says that it stops."""
    unit = "contentapi-server@.service"
    variables = {"NOTIFY_SOCKET": str(notifications.path)}
    run = start(checkout, read_command(unit, checkout.folder), read_variables(unit, str(port)) | variables)

    assert notifications.receive() == "READY=1"
    assert is_listening(port)
    assert notifications.wait_for("WATCHDOG=1")

    workers = psutil.Process(run.process.pid).children()
    for worker in workers:
        worker.send_signal(signal.SIGSTOP)
    wait_until(lambda: notifications.receive(2) is None, "the silence")
    for worker in workers:
        worker.send_signal(signal.SIGCONT)
    assert notifications.wait_for("WATCHDOG=1")

    run.process.terminate()
    assert notifications.wait_for("STOPPING=1")
    assert run.process.wait(PATIENCE) == 0


GUNICORN = ["gunicorn", "--config", "contentapi/server/gunicorn_conf.py", "contentapi.wsgi"]


@pytest.mark.parametrize("service", ["gunicorn", "worker", "stream"])
def test_service_reports_start_life_and_end(
    checkout: Checkout, notifications: NotificationSocket, port: int, service: str
) -> None:
    unit = f"contentapi-{service}.service"
    own = {"PORT": str(port), "CONTENTAPI_STREAM_PORT": str(port), "CONTENTAPI_METRICS_BIND": f"127.0.0.1:1{port}"}
    is_unit = service != "gunicorn"
    command = read_command(unit, checkout.folder) if is_unit else [".venv/bin/python", "-m", *GUNICORN]
    variables = read_variables(unit, "") if is_unit else {}
    run = start(checkout, command, variables | own | {"NOTIFY_SOCKET": str(notifications.path)})

    assert notifications.wait_for("READY=1")
    assert is_listening(port) or service == "worker"
    assert notifications.wait_for("WATCHDOG=1")
    run.process.terminate()
    assert notifications.wait_for("STOPPING=1")
    assert run.process.wait(PATIENCE) == 0
