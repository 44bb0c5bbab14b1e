"""The first of seven migrations that replace constraints and triggers. Each locks one table, and briefly.

One transaction would lock the tables in another order than a write does: an insertion of a post locks its author last.
"""

from django.db import migrations

CHECKS = {
    'title_present': "NOT title = ''",
    'tags_set': 'blog_is_set_of_words(tags)',
    'version_positive': 'version >= 1',
    'status_known': "status = ANY ('{draft,scheduled,published,archived}')",
    'body_length': 'octet_length(body) <= 200000 OR char_length(body) <= 200000',
    'tags_number': 'cardinality(tags) <= 20',
    'publish_at_iff_scheduled': "(status = 'scheduled') = (publish_at IS NOT NULL)",
}


class Migration(migrations.Migration):
    dependencies = [('blog', '0027_validated_check')]

    operations = [
        # Between two operations of Django, which would hold the lock, it builds all models again.
        migrations.RunSQL(
            [f'ALTER TABLE blog_post DROP CONSTRAINT IF EXISTS blog_post_{name}' for name in CHECKS],
            [
                f'ALTER TABLE blog_post ADD CONSTRAINT blog_post_{name} CHECK ({condition}) NOT VALID'
                for name, condition in CHECKS.items()
            ],
            [migrations.RemoveConstraint(model_name='post', name=f'blog_post_{name}') for name in CHECKS],
        ),
    ]
