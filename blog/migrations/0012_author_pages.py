from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("blog", "0011_shared_ids")]

    operations = [
        AddIndexConcurrently("author", models.Index(fields=["name", "id"], name="blog_author_name")),
        AddIndexConcurrently("author", models.Index(fields=["created_at", "id"], name="blog_author_oldest")),
        RemoveIndexConcurrently("author", "blog_author_by_name"),
    ]
