from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("users", "0004_shared_ids")]

    operations = [
        AddIndexConcurrently("user", models.Index(fields=["name", "id"], name="users_user_name")),
        AddIndexConcurrently("user", models.Index(fields=["created_at", "id"], name="users_user_oldest")),
    ]
