from django.db import migrations, models

# Migration 0013 removes both again: the words of one post could make every search take seconds.
CREATE_FUNCTION = """
    CREATE FUNCTION blog_find_similar_words(term text) RETURNS tsquery LANGUAGE sql STABLE AS 'SELECT NULL::tsquery'
"""


class Migration(migrations.Migration):

    dependencies = [
        ("blog", "0009_import_jobs"),
    ]

    operations = [
        migrations.CreateModel(
            name="SearchWord",
            fields=[
                ("word", models.TextField(db_collation="C", primary_key=True, serialize=False)),
            ],
        ),
        migrations.RunSQL(CREATE_FUNCTION, "DROP FUNCTION blog_find_similar_words(text)"),
    ]
