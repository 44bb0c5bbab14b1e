"""Whether the database and CONTENTAPI_DISTRIBUTED agree."""

from contentapi.db.citus.claims import is_distributed

MISSING = "The database is distributed, and CONTENTAPI_DISTRIBUTED is not set."
UNEXPECTED = "CONTENTAPI_DISTRIBUTED is citus, and the database is not distributed."
REMEDIES = {
    MISSING: "Set CONTENTAPI_DISTRIBUTED=citus for each process.",
    UNEXPECTED: "Run python manage.py distribute, or unset CONTENTAPI_DISTRIBUTED.",
}


def find_mismatch(*, has_claims: bool) -> str:
    """Return what is wrong, or an empty text. `has_claims` is whether `distribute` has run on the database."""
    return "" if has_claims == is_distributed() else MISSING if has_claims else UNEXPECTED
