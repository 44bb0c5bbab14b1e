import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("blog", "0006_newest_comments"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PostPresence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("post_id", models.BigIntegerField()),
                ("page", models.UUIDField(help_text="The number that the page got when it was opened.")),
                ("opened_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["seen_at"], name="blog_postpresence_seen")],
                "constraints": [
                    models.UniqueConstraint(fields=("post_id", "user", "page"), name="blog_postpresence_page")
                ],
            },
        ),
        # The rows live for seconds: they need no write-ahead log, and no copy after a crash.
        migrations.RunSQL(
            "ALTER TABLE blog_postpresence SET UNLOGGED", "ALTER TABLE blog_postpresence SET LOGGED"
        ),
    ]
