from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("orders", "0003_shared_ids")]

    operations = [
        AddIndexConcurrently(
            "order", models.Index(fields=["user", "created_at", "id"], name="orders_order_user_created")
        ),
        AddIndexConcurrently("order", models.Index(fields=["created_at", "id"], name="orders_order_created")),
    ]
