"""The folders of the benchmark. Everything that is built or stored is under var/bench."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = HERE / "peers"
WORK = ROOT / "var" / "bench"
LOGS = WORK / "logs"
RESULTS = WORK / "results"

# Variables that would change a measured server are removed: ours runs with its defaults and all limits.
CHANGES_SERVERS = ("CONTENTAPI_", "DJANGO_", "GRANIAN_", "GUNICORN_", "NODE_", "PG", "PYTHON")
CHANGES_OURS = {
    "ALLOWED_HOSTS", "CORS_ALLOWED_ORIGINS", "DATABASE_URL", "JWT_PRIVATE_KEY", "JWT_SECRET", "REDIS_URL", "SECRET_KEY",
    "WEB_CONCURRENCY",
}  # fmt: skip


def clean_environment() -> dict[str, str]:
    """Return the environment without the variables that would change a measured server."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(CHANGES_SERVERS) and name not in CHANGES_OURS
    }
