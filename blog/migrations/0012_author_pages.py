from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("blog", "0011_shared_ids")]

    operations = [
        migrations.AddIndex("author", models.Index(fields=["name", "id"], name="blog_author_name")),
        migrations.AddIndex("author", models.Index(fields=["created_at", "id"], name="blog_author_oldest")),
        migrations.RemoveIndex("author", "blog_author_by_name"),
    ]
