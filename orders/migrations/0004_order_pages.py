from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("orders", "0003_shared_ids")]

    operations = [
        migrations.AddIndex(
            "order", models.Index(fields=["user", "created_at", "id"], name="orders_order_user_created")
        ),
        migrations.AddIndex("order", models.Index(fields=["created_at", "id"], name="orders_order_created")),
    ]
