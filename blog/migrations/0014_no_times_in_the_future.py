from django.db import migrations

# Imports stored a date in the future as the time of creation. These posts get the time of their first version, or the
# present time. The trigger makes this a version of its own, changed now; the history keeps the old one.
CORRECT_TIMES = """
    UPDATE blog_post SET updated_at = least(statement_timestamp(), changed_at) WHERE updated_at > statement_timestamp();
    UPDATE blog_post SET created_at = least(statement_timestamp(), coalesce(
        (SELECT first.changed_at FROM blog_postversion AS first
         WHERE first.id = blog_post.id ORDER BY first.version, first.pgh_id LIMIT 1),
        changed_at))
    WHERE created_at > statement_timestamp();
"""


class Migration(migrations.Migration):
    dependencies = [("blog", "0013_no_similar_words")]

    operations = [migrations.RunSQL(CORRECT_TIMES, migrations.RunSQL.noop)]
