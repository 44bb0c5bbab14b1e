"""Where things lie: everything that is built or stored is under var/bench."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = HERE / "peers"
WORK = ROOT / "var" / "bench"
LOGS = WORK / "logs"
RESULTS = WORK / "results"

# What would change a server under measurement does not reach it: ours runs with its defaults, every limit on.
CHANGES_SERVERS = ("CONTENTAPI_", "DJANGO_", "GRANIAN_", "GUNICORN_", "NODE_", "PG", "PYTHON")
CHANGES_OURS = {
    "ALLOWED_HOSTS", "CORS_ALLOWED_ORIGINS", "DATABASE_URL", "JWT_PRIVATE_KEY", "JWT_SECRET", "REDIS_URL", "SECRET_KEY",
    "WEB_CONCURRENCY",
}  # fmt: skip


def clean_environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(CHANGES_SERVERS) and name not in CHANGES_OURS
    }
