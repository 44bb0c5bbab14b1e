"""The table of unique values on one PostgreSQL, for tests of what the code does on a distributed database."""

from contentapi.db.distribution import CLAIMS

CREATE = f"CREATE TABLE {CLAIMS} (kind text, value text, post_id bigint, PRIMARY KEY (value, kind))"
