from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("users", "0004_shared_ids")]

    operations = [
        migrations.AddIndex("user", models.Index(fields=["name", "id"], name="users_user_name")),
        migrations.AddIndex("user", models.Index(fields=["created_at", "id"], name="users_user_oldest")),
    ]
