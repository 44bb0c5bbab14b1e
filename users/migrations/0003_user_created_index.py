from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("users", "0002_issued_tokens")]

    operations = [
        AddIndexConcurrently("user", models.Index(fields=["created_at"], name="users_user_created")),
        RemoveIndexConcurrently("user", "users_user_oldest"),
    ]
