"""The environment variables of processes that use a cluster."""

from pathlib import Path

from tests.deployment.postgresql import PostgresServer

KEY = "a key of the tests that is long enough for a deployment 0123456789"


def build_environment(
    coordinator: PostgresServer, database: str = "contentapi", var: Path | None = None
) -> dict[str, str]:
    """Return the variables of processes that use a database. Its files are in `var`, by default beside the nodes."""
    return {
        "DATABASE_URL": coordinator.build_url(database),
        "CONTENTAPI_DISTRIBUTED": "citus",
        "CONTENTAPI_VAR": str(var or Path(coordinator.folder).parent / "var"),
        "SECRET_KEY": KEY,
        "JWT_SECRET": KEY,
        "DJANGO_SETTINGS_MODULE": "contentapi.settings",
    }
