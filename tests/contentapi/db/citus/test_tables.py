import pytest

from contentapi.db.citus.steps import NotReady, list_steps, require_tables
from contentapi.db.placement import list_distributed, list_shard_keys
from contentapi.db.statements import execute, fetch_column

# The tables that stay on the coordinator. A new table is a line here, or its model has a `shard_key`.
ON_COORDINATOR = """
    auth_group auth_group_permissions auth_permission blog_imageupload blog_importjob blog_importpiece blog_importresult
    blog_postpresence contentapi_idempotencyrecord contentapi_jobheartbeat django_admin_log django_content_type
    django_migrations django_session events_attempt events_delivery events_event events_log events_ticket events_webhook
    oauth2_provider_accesstoken oauth2_provider_devicegrant oauth2_provider_grant oauth2_provider_idtoken
    oauth2_provider_refreshtoken pghistory_context users_apikey users_issuedtoken
""".split()  # noqa: SIM905
READ_TABLES = """
    SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
    AND relnamespace = current_schema()::regnamespace
"""


@pytest.mark.django_db
def test_each_table_of_the_database_has_one_place() -> None:
    assert sorted(fetch_column(READ_TABLES)) == sorted([*list_shard_keys(), *ON_COORDINATOR])


@pytest.mark.django_db
def test_database_that_is_not_migrated_stops_the_distribution() -> None:
    execute("DROP TABLE blog_oldslug")

    with pytest.raises(NotReady, match=r"manage.py migrate.*blog_oldslug"):
        require_tables()


@pytest.mark.django_db
def test_database_without_citus_stops_the_distribution() -> None:
    with pytest.raises(NotReady, match="CREATE EXTENSION citus"):
        list(list_steps(8))


@pytest.mark.django_db
def test_column_of_distribution_is_in_each_distributed_table() -> None:
    for table, column in list_distributed().items():
        sql = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
        assert column in fetch_column(sql, [table])
