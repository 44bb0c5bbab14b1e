import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models

# Which database this is. A restored one has another oid or another system identifier, a promoted replica another
# timeline. `contentapi.events.relay` begins a new epoch then.
CREATE_SERVER = """
    CREATE FUNCTION events_server() RETURNS text LANGUAGE sql VOLATILE AS $$
        SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
            substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
            (SELECT oid FROM pg_database WHERE datname = current_database()))
    $$
"""
CREATE_LOG_ROW = """
    INSERT INTO events_log (id, epoch, server) VALUES (1, substr(md5(gen_random_uuid()::text), 1, 8), events_server())
"""
# The primary key of a partitioned table includes the column of its partitions.
CREATE_EVENT = """
    CREATE TABLE events_event (
        position bigint NOT NULL,
        day date NOT NULL,
        type text NOT NULL,
        "timestamp" timestamp with time zone NOT NULL,
        subject_id bigint NOT NULL,
        parent_id bigint,
        version bigint,
        was text,
        now text,
        changes text[] NOT NULL DEFAULT '{}',
        actor_id bigint,
        is_public boolean NOT NULL DEFAULT false,
        owner_ids bigint[] NOT NULL DEFAULT '{}',
        PRIMARY KEY (position, day)
    ) PARTITION BY RANGE (day);
    CREATE INDEX events_event_subject ON events_event (subject_id, position);
"""
# Rows stay for less than a second: the dead ones are removed at once.
VACUUM_OUTBOX = """
    ALTER TABLE events_outbox SET (
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_threshold = 100000
    )
"""


def list_columns(*key, timestamp):
    return [
        *key,
        ('type', models.TextField()),
        ('timestamp', timestamp),
        ('subject_id', models.BigIntegerField()),
        ('parent_id', models.BigIntegerField(help_text='The id of the post of a comment.', null=True)),
        ('version', models.BigIntegerField(null=True)),
        ('was', models.TextField(null=True)),
        ('now', models.TextField(null=True)),
        ('changes', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_default=[], default=list, size=None)),
        ('actor_id', models.BigIntegerField(null=True)),
        ('is_public', models.BooleanField(db_default=False, default=False)),
        ('owner_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), db_default=[], default=list, size=None)),
    ]


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Log',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('epoch', models.TextField()),
                ('position', models.BigIntegerField(db_default=0, default=0)),
                ('expired', models.BigIntegerField(db_default=0, default=0)),
                ('server', models.TextField()),
                ('moved', models.BigIntegerField(db_default=0, default=0)),
                ('next_moved', models.BigIntegerField(db_default=0, default=0)),
                ('next_xid', models.BigIntegerField(db_default=0, default=0)),
            ],
            options={'db_table': 'events_log'},
        ),
        migrations.RunSQL(CREATE_SERVER, "DROP FUNCTION events_server()"),
        migrations.RunSQL(CREATE_LOG_ROW, migrations.RunSQL.noop),
        migrations.CreateModel(
            name='OutboxEvent',
            fields=list_columns(
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                timestamp=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
            ),
            options={'db_table': 'events_outbox'},
        ),
        migrations.RunSQL(VACUUM_OUTBOX, migrations.RunSQL.noop),
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(CREATE_EVENT, "DROP TABLE events_event")],
            [
                migrations.CreateModel(
                    name='Event',
                    fields=list_columns(
                        ('position', models.BigIntegerField(primary_key=True, serialize=False)),
                        ('day', models.DateField()),
                        timestamp=models.DateTimeField(),
                    ),
                    options={
                        'db_table': 'events_event',
                        'indexes': [models.Index(fields=['subject_id', 'position'], name='events_event_subject')],
                    },
                ),
            ],
        ),
    ]
