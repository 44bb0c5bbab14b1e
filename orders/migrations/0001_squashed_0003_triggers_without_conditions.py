"""What 0001 to 0003 make of an empty database. A database that has some of them gets the others one by one."""

import contentapi.db.ids
import contentapi.events.triggers
import django.db.models.deletion
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('orders', '0001_initial'),
        ('orders', '0002_events'),
        ('orders', '0003_triggers_without_conditions'),
    ]

    initial = True

    dependencies = [
        ('contentapi', '0001_initial'),
        ('events', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='OrderState',
            fields=[
                ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                ('pgh_label', models.TextField(help_text='The event label.')),
                ('pgh_context', pghistory.utils.JSONField(null=True)),
                ('id', models.BigIntegerField()),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('paid', 'Paid'), ('shipped', 'Shipped'), ('delivered', 'Delivered'), ('cancelled', 'Cancelled')], default='pending', max_length=10)),
                ('pgh_id', models.BigAutoField(primary_key=True, serialize=False)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['id', 'pgh_id'], name='orders_orderstate_order'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Order',
            fields=[
                ('id', contentapi.db.ids.SharedIdField(primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('paid', 'Paid'), ('shipped', 'Shipped'), ('delivered', 'Delivered'), ('cancelled', 'Cancelled')], default='pending', max_length=10)),
                ('total', models.DecimalField(decimal_places=2, max_digits=10)),
                ('carrier', models.CharField(blank=True, max_length=100)),
                ('tracking_number', models.CharField(blank=True, max_length=100)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('shipped_at', models.DateTimeField(blank=True, null=True)),
                ('delivered_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='orders', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(models.F('user'), models.OrderBy(models.F('id'), descending=True), name='orders_order_user_newest'),
                    models.Index(fields=['user', 'created_at', 'id'], name='orders_order_user_created'),
                    models.Index(fields=['created_at', 'id'], name='orders_order_created'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'paid', 'shipped', 'delivered', 'cancelled'])), name='orders_order_status_known'),
                    models.CheckConstraint(condition=models.Q(('total__gte', Decimal('0.01')), ('total__lte', Decimal('99999999.99'))), name='orders_order_total_range', violation_error_message='The total must be from 0.01 to 99,999,999.99.'),
                    models.CheckConstraint(condition=models.Q(models.Q(('status__in', ('shipped', 'delivered')), _negated=True), models.Q(models.Q(('carrier', ''), _negated=True), models.Q(('tracking_number', ''), _negated=True), ('shipped_at__isnull', False)), _connector='OR'), name='orders_order_shipped_has_tracking', violation_error_message='A shipped order needs a carrier, a tracking number and the time.'),
                    models.CheckConstraint(condition=models.Q(models.Q(('delivered_at__isnull', False), ('status', 'delivered')), models.Q(models.Q(('status', 'delivered'), _negated=True), ('delivered_at__isnull', True)), _connector='OR'), name='orders_order_delivered_at_iff_delivered', violation_error_message='A delivered order, and no other, has a time of delivery.'),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "orders_orderstate" ("id", "pgh_context", "pgh_created_at", "pgh_label", "status") VALUES (NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."status"); RETURN NULL;', hash='832a6b5b4ab69653fcef4177fafb290e7fd42250', operation='INSERT', pgid='pgtrigger_insert_insert_eb763', table='orders_order', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."status" IS DISTINCT FROM (NEW."status"))', func='INSERT INTO "orders_orderstate" ("id", "pgh_context", "pgh_created_at", "pgh_label", "status") VALUES (NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."status"); RETURN NULL;', hash='ca47a5b86601227dcd5fd95273d1d71db4fdb3fa', operation='UPDATE', pgid='pgtrigger_update_update_d4b84', table='orders_order', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='announce_created', sql=contentapi.events.triggers.AnnouncementSql(func="IF coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'order') THEN INSERT INTO events_outbox (subject_id, version, now, actor_id, owner_ids, type) SELECT NEW.id, CASE NEW.status WHEN 'pending' THEN 1 WHEN 'paid' THEN 2 WHEN 'cancelled' THEN 2 WHEN 'shipped' THEN 3 WHEN 'delivered' THEN 4 END, NEW.status, (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, ARRAY[NEW.user_id], 'order.created'; END IF; RETURN NULL;", hash='5d7ea3af8d49fcb992ee90a1cc0311fdbd1f7e7a', operation='INSERT', pgid='pgtrigger_announce_created_b5e86', table='orders_order', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='announce_updated', sql=contentapi.events.triggers.AnnouncementSql(func="IF OLD.status <> NEW.status AND coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'order') THEN INSERT INTO events_outbox (subject_id, version, now, actor_id, owner_ids, type, was, changes) SELECT NEW.id, CASE NEW.status WHEN 'pending' THEN 1 WHEN 'paid' THEN 2 WHEN 'cancelled' THEN 2 WHEN 'shipped' THEN 3 WHEN 'delivered' THEN 4 END, NEW.status, (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, ARRAY[NEW.user_id], 'order.' || NEW.status, OLD.status, ARRAY['status']; END IF; RETURN NULL;", hash='bf2bf8f54021037616dab8c6d5f9cce1a8f8339b', operation='UPDATE', pgid='pgtrigger_announce_updated_0bc45', table='orders_order', when='AFTER')),
        ),
    ]
