import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


# The orders that exist are older than the history: nobody knows who made them, nor when they were paid or cancelled.
KNOWN_STATES = """
    INSERT INTO orders_orderstate (id, status, pgh_created_at, pgh_label, pgh_context)
    SELECT id, status, at, 'migration', '{"changed_by": null, "changed_with": ""}'
    FROM (
        SELECT id, 1 AS place, 'pending' AS status, created_at AS at FROM orders_order
        UNION ALL SELECT id, 2, 'shipped', shipped_at FROM orders_order WHERE status IN ('shipped', 'delivered')
        UNION ALL SELECT id, 3, 'delivered', delivered_at FROM orders_order WHERE status = 'delivered'
    ) AS known ORDER BY id, place
"""


class Migration(migrations.Migration):

    dependencies = [
        ('orders', '0001_initial'),
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
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "orders_orderstate" ("id", "pgh_context", "pgh_created_at", "pgh_label", "status") VALUES (NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."status"); RETURN NULL;', hash='832a6b5b4ab69653fcef4177fafb290e7fd42250', operation='INSERT', pgid='pgtrigger_insert_insert_eb763', table='orders_order', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."status" IS DISTINCT FROM (NEW."status"))', func='INSERT INTO "orders_orderstate" ("id", "pgh_context", "pgh_created_at", "pgh_label", "status") VALUES (NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."status"); RETURN NULL;', hash='ca47a5b86601227dcd5fd95273d1d71db4fdb3fa', operation='UPDATE', pgid='pgtrigger_update_update_d4b84', table='orders_order', when='AFTER')),
        ),
        migrations.AddIndex(
            model_name='orderstate',
            index=models.Index(fields=['id', 'pgh_id'], name='orders_orderstate_order'),
        ),
        migrations.RunSQL(KNOWN_STATES, migrations.RunSQL.noop),
    ]
