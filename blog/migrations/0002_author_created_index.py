from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("blog", "0001_initial")]

    operations = [
        AddIndexConcurrently("author", models.Index(fields=["created_at"], name="blog_author_created")),
        RemoveIndexConcurrently("author", "blog_author_oldest"),
    ]
