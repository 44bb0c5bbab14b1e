"""Whether the database, its connection and CONTENTAPI_DISTRIBUTED agree."""

from contentapi.db.citus.claims import is_distributed

MISSING = "The database is distributed, and CONTENTAPI_DISTRIBUTED is not set."
UNEXPECTED = "CONTENTAPI_DISTRIBUTED is citus, and the database is not distributed."
WORKER = "This node of the cluster is a worker."
POOLED = "The settings of a distributed database are not in effect: a pooler drops the options of sessions."
REMEDIES = {
    MISSING: "Set CONTENTAPI_DISTRIBUTED=citus for each process.",
    UNEXPECTED: "Run python manage.py distribute, or unset CONTENTAPI_DISTRIBUTED.",
    WORKER: "Set DATABASE_URL to the address of the coordinator.",
    POOLED: "Set them for the role: see docs/operations/cluster.md.",
}


def find_mismatch(*, has_migrations: bool, has_claims: bool, has_settings: bool) -> str:
    """Return what is wrong, or an empty text.

    `has_migrations` is whether the table of migrations is there, which a worker lacks. `has_claims` is whether
    `distribute` has run on the database, `has_settings` whether this session has the settings of a distributed one.
    """
    if not has_migrations:
        return WORKER if has_claims else ""
    if has_claims != is_distributed():
        return MISSING if has_claims else UNEXPECTED
    return POOLED if has_claims and not has_settings else ""
