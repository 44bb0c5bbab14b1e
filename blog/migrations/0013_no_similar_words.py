from django.db import migrations

# The extensions pg_trgm and fuzzystrmatch stay where they are installed: other applications may use them.
CREATE_FUNCTION = """
    CREATE FUNCTION blog_find_similar_words(term text) RETURNS tsquery LANGUAGE sql STABLE AS 'SELECT NULL::tsquery'
"""


class Migration(migrations.Migration):
    dependencies = [("blog", "0012_author_pages")]

    operations = [
        migrations.RunSQL("DROP FUNCTION blog_find_similar_words(text)", CREATE_FUNCTION),
        migrations.DeleteModel("SearchWord"),
    ]
