"""What 0001 to 0004 make of an empty database. A database that has some of them gets the others one by one."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

import contentapi.db.ids

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
# The column `body` stays until no sender of an earlier release writes it.
CREATE_DELIVERY = """
    CREATE TABLE events_delivery (
        id bigint NOT NULL DEFAULT nextval('contentapi_id_seq'),
        day date NOT NULL,
        webhook_id bigint NOT NULL,
        message_id text NOT NULL,
        type text NOT NULL,
        subject_id bigint,
        position bigint,
        batch jsonb,
        state text NOT NULL DEFAULT 'waiting',
        attempts smallint NOT NULL DEFAULT 0,
        tries smallint NOT NULL DEFAULT 0,
        due_at timestamp with time zone,
        created_at timestamp with time zone NOT NULL DEFAULT statement_timestamp(),
        finished_at timestamp with time zone,
        status smallint,
        error text NOT NULL DEFAULT '',
        body bytea,
        PRIMARY KEY (id, day)
    ) PARTITION BY RANGE (day);
    CREATE INDEX events_delivery_webhook ON events_delivery (webhook_id, created_at, id);
    CREATE INDEX events_delivery_position ON events_delivery (webhook_id, position);
    CREATE INDEX events_delivery_due ON events_delivery (webhook_id, due_at, id) WHERE state = 'waiting';
    CREATE INDEX events_delivery_subject ON events_delivery (webhook_id, subject_id, id) WHERE state = 'waiting';
    CREATE INDEX events_delivery_state ON events_delivery (webhook_id, state, created_at, id)
        WHERE state IN ('waiting', 'failed', 'cancelled');
"""
CREATE_ATTEMPT = """
    CREATE TABLE events_attempt (
        id bigint NOT NULL DEFAULT nextval('contentapi_id_seq'),
        day date NOT NULL,
        delivery_id bigint NOT NULL,
        number smallint NOT NULL,
        started_at timestamp with time zone NOT NULL,
        seconds double precision NOT NULL,
        status smallint,
        error text NOT NULL DEFAULT '',
        response text NOT NULL DEFAULT '',
        PRIMARY KEY (id, day)
    ) PARTITION BY RANGE (day);
    CREATE INDEX events_attempt_delivery ON events_attempt (delivery_id, number);
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

    replaces = [
        ('events', '0001_initial'),
        ('events', '0002_webhooks'),
        ('events', '0003_tickets'),
        ('events', '0004_delivery_body'),
    ]

    initial = True

    dependencies = [
        ('contentapi', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
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
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', contentapi.db.ids.SharedIdField(primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=150)),
                ('url', models.CharField(max_length=2000)),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ('selection', models.TextField(default='', help_text='GraphQL fragments. Without any, data is that of REST.')),
                ('coalesce', models.SmallIntegerField(default=0, help_text='Seconds; 0 sends each event.')),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), size=None)),
                ('version', models.BigIntegerField(default=1)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('disabled_at', models.DateTimeField(null=True)),
                ('disabled_reason', models.CharField(blank=True, choices=[('person', 'an admin has disabled it'), ('gone', 'the receiver answered 410'), ('failures', 'nothing but failures for five days'), ('maker', 'the user who created it is deleted or locked')], default='', max_length=10)),
                ('failing_since', models.DateTimeField(null=True)),
                ('secret', models.BinaryField(help_text='Encrypted.')),
                ('previous_secret', models.BinaryField(help_text='Encrypted. It signs too until previous_until.', null=True)),
                ('previous_until', models.DateTimeField(null=True)),
                ('epoch', models.TextField(default='')),
                ('position', models.BigIntegerField(default=0)),
                ('planned_at', models.DateTimeField(null=True)),
                ('due_at', models.DateTimeField(null=True)),
                ('lease', models.UUIDField(null=True)),
                ('leased_until', models.DateTimeField(null=True)),
                ('maker', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'events_webhook',
                'indexes': [models.Index(fields=['created_at', 'id'], name='events_webhook_created')],
                'constraints': [
                    models.CheckConstraint(condition=~Q(name=''), name='events_webhook_name_present'),
                    models.CheckConstraint(condition=Q(coalesce__gte=0, coalesce__lte=300), name='events_webhook_coalesce_range'),
                    models.CheckConstraint(condition=Q(disabled_at__isnull=True, disabled_reason='') | Q(disabled_at__isnull=False) & ~Q(disabled_reason=''), name='events_webhook_reason_iff_disabled'),
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(CREATE_DELIVERY, "DROP TABLE events_delivery"),
                migrations.RunSQL(CREATE_ATTEMPT, "DROP TABLE events_attempt"),
            ],
            [
                migrations.CreateModel(
                    name='Delivery',
                    fields=[
                        ('id', contentapi.db.ids.SharedIdField(primary_key=True, serialize=False, verbose_name='ID')),
                        ('day', models.DateField()),
                        ('message_id', models.TextField()),
                        ('type', models.TextField()),
                        ('subject_id', models.BigIntegerField(help_text='0 for batches, null for pings.', null=True)),
                        ('position', models.BigIntegerField(null=True)),
                        ('batch', models.JSONField(help_text='The body of a delivery of several events.', null=True)),
                        ('state', models.TextField(choices=[('waiting', 'Waiting'), ('delivered', 'Delivered'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], db_default='waiting', default='waiting')),
                        ('attempts', models.SmallIntegerField(db_default=0, default=0)),
                        ('tries', models.SmallIntegerField(db_default=0, default=0)),
                        ('due_at', models.DateTimeField(null=True)),
                        ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now)),
                        ('finished_at', models.DateTimeField(null=True)),
                        ('status', models.SmallIntegerField(help_text='Of the last response.', null=True)),
                        ('error', models.TextField(db_default='', default='')),
                        ('webhook', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='deliveries', to='events.webhook')),
                    ],
                    options={
                        'db_table': 'events_delivery',
                        'indexes': [
                            models.Index(fields=['webhook', 'created_at', 'id'], name='events_delivery_webhook'),
                            models.Index(fields=['webhook', 'position'], name='events_delivery_position'),
                            models.Index(condition=Q(state='waiting'), fields=['webhook', 'due_at', 'id'], name='events_delivery_due'),
                            models.Index(condition=Q(state='waiting'), fields=['webhook', 'subject_id', 'id'], name='events_delivery_subject'),
                            models.Index(condition=Q(state__in=['waiting', 'failed', 'cancelled']), fields=['webhook', 'state', 'created_at', 'id'], name='events_delivery_state'),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name='Attempt',
                    fields=[
                        ('id', contentapi.db.ids.SharedIdField(primary_key=True, serialize=False, verbose_name='ID')),
                        ('day', models.DateField()),
                        ('number', models.SmallIntegerField()),
                        ('started_at', models.DateTimeField()),
                        ('seconds', models.FloatField()),
                        ('status', models.SmallIntegerField(null=True)),
                        ('error', models.TextField(db_default='', default='')),
                        ('response', models.TextField(db_default='', default='', help_text='The first 4 KiB of its body.')),
                        ('delivery', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='log', to='events.delivery')),
                    ],
                    options={
                        'db_table': 'events_attempt',
                        'indexes': [models.Index(fields=['delivery', 'number'], name='events_attempt_delivery')],
                    },
                ),
            ],
        ),
        migrations.CreateModel(
            name="Ticket",
            fields=[
                ("digest", models.CharField(help_text="SHA-256 of the ticket.", max_length=64, primary_key=True, serialize=False)),
                ("credential", models.BinaryField(help_text="The credential that it replaces, encrypted.")),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
            options={"db_table": "events_ticket"},
        ),
    ]
