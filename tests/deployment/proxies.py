"""nginx and Caddy with the configurations of deploy/."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.deployment.ports import find_free_port
from tests.deployment.processes import ROOT, run_process

DEPLOY = ROOT / "deploy"
CONFIGURATION = DEPLOY / "nginx.conf"
TEMPORARY_PATHS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
CADDYFILE = DEPLOY / "Caddyfile"


@contextmanager
def start_caddy(upstream: int, folder: Path, *, streams: int | None = None, text: str = "") -> Iterator[int]:
    """Run Caddy in front of a server's port and a port without a server. Yield the port of Caddy.

    `streams` is the port of streams, and `text` another configuration than that of deploy/.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port, closed, admin = find_free_port(), find_free_port(), find_free_port()
    variables = {
        "CONTENTAPI_SITE": f"http://127.0.0.1:{port}",
        "CONTENTAPI_SERVERS": f"127.0.0.1:{closed} 127.0.0.1:{upstream}",
        "CONTENTAPI_STREAM": f"127.0.0.1:{streams or closed}",
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    copy = folder / "Caddyfile"
    text = (text or CADDYFILE.read_text()).replace("{\n", f"{{\n\tadmin 127.0.0.1:{admin}\n", 1)
    copy.write_text(text.replace("/var/lib/contentapi/media", str(folder / "media")))
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(copy)]
    with run_process(command, folder / "caddy.log", port, os.environ | variables):
        yield port


@contextmanager
def start_nginx(
    upstream: int,
    folder: Path,
    *,
    text: str = CONFIGURATION.read_text(),
    addresses: Sequence[str] = ("127.0.0.1",),
    streams: int | None = None,
) -> Iterator[int]:
    """Run nginx in front of the port of a server, and of that of streams, with its files in a folder.

    Yields the port of nginx.
    """
    port = find_free_port()
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "nginx.conf"
    text = text if streams is None else text.replace("server 127.0.0.1:8100;", f"server 127.0.0.1:{streams};")
    configuration.write_text(adapt_configuration(text, folder, port, upstream, addresses))
    directives = "daemon off;" + (
        " user root;" if os.geteuid() == 0 else ""
    )  # as root, because another account could not enter var/
    command = [require_nginx(), "-p", str(folder), "-c", str(configuration), "-g", directives]
    with run_process(command, folder / "nginx.log", port, dict(os.environ)):
        yield port


def adapt_configuration(
    text: str, folder: Path, port: int, upstream: int, addresses: Sequence[str] = ("127.0.0.1",)
) -> str:
    """Return the deployment's configuration with only the addresses and paths of this measurement changed."""
    paths = "".join(f"    {name}_temp_path {folder}/{name};\n" for name in TEMPORARY_PATHS)
    changes = {
        "listen 80 ": "; ".join(f"listen {address}:{port}" for address in addresses) + " ",
        "server 127.0.0.1:8000;": f"server 127.0.0.1:{upstream};",
        "/run/nginx.pid": f"{folder}/nginx.pid",
        "/var/log/nginx/": f"{folder}/",
        "http {\n": f"http {{\n{paths}",
    }
    for old, new in changes.items():
        if old not in text:
            raise ValueError(f"{CONFIGURATION.name} does not contain {old!r}")
        text = text.replace(old, new)
    return text


def find_nginx() -> str | None:
    """Return the path of nginx, which Debian installs outside an ordinary user's PATH."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def require_nginx() -> str:
    found = find_nginx()
    if found is None:
        raise FileNotFoundError("nginx is not installed")
    return found


def start_nginx_with_media(upstream: int, folder: Path) -> AbstractContextManager[int]:
    text = CONFIGURATION.read_text().replace("/var/lib/contentapi/media", str(folder / "media"))
    return start_nginx(upstream, folder, text=text)
