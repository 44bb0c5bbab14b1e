"""nginx and Caddy with the configurations of deploy/."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from benchmarks.hostile.servers import run_process, start_nginx
from tests.deployment.ports import find_free_port

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
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


def start_nginx_with_media(upstream: int, folder: Path) -> AbstractContextManager[int]:
    text = (DEPLOY / "nginx.conf").read_text().replace("/var/lib/contentapi/media", str(folder / "media"))
    return start_nginx(upstream, folder, text=text)
