from django.db import migrations, models

# The demo's posts had the prefix "demo/" in their paths. Now it is the name of their source. All other posts get the
# name of their source when their files are imported again.
MOVE_DEMO = """
UPDATE blog_postsource SET source = 'demo', path = substring(path FROM 6) WHERE path IN (
    'demo/2026-01-12-the-harbour-wakes-early.md',
    'demo/2026-02-03-reading-a-tide-table.md',
    'demo/2026-03-21-a-lamp-from-1884.md',
    'demo/2026-05-02-soup-for-forty.md',
    'demo/2026-06-15-the-bench-that-faces-inland.md',
    'demo/2026-08-30-what-the-storm-brought.md',
    'demo/2026-10-09-notes-for-the-winter-issue.md',
    'demo/2026-11-01-how-we-name-our-boats.md'
)
"""
MOVE_DEMO_BACK = "UPDATE blog_postsource SET source = '', path = 'demo/' || path WHERE source = 'demo'"


class Migration(migrations.Migration):

    dependencies = [
        ('blog', '0002_published_at'),
    ]

    operations = [
        migrations.AddField(
            model_name='postsource',
            name='source',
            field=models.TextField(default='', help_text='The name of the site that the file belongs to.'),
        ),
        migrations.AddField(
            model_name='postsource',
            name='front_matter',
            field=models.JSONField(help_text='The keys of the file that have no field here.', null=True),
        ),
        migrations.RemoveConstraint(
            model_name='postsource',
            name='blog_postsource_path_unique',
        ),
        migrations.RunSQL(MOVE_DEMO, MOVE_DEMO_BACK),
        migrations.AddConstraint(
            model_name='postsource',
            constraint=models.UniqueConstraint(fields=('source', 'path'), name='blog_postsource_file_unique'),
        ),
    ]
