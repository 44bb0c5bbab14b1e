from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("blog", "0005_search_index")]

    operations = [
        migrations.AddIndex(
            model_name="comment",
            index=models.Index(fields=["-created_at", "-id"], name="blog_comment_newest"),
        ),
    ]
