import datetime

import django.db.models.functions.comparison
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('blog', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='post',
            name='published_at',
            field=models.DateTimeField(blank=True, help_text='When the post first became public.', null=True),
        ),
        migrations.RunSQL(
            "UPDATE blog_post SET published_at = created_at WHERE status = 'published'", migrations.RunSQL.noop
        ),
        migrations.AddField(
            model_name='post',
            name='publication_order',
            field=models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce('published_at', models.Value(datetime.datetime(9999, 12, 31, 0, 0, tzinfo=datetime.timezone.utc))), output_field=models.DateTimeField()),
        ),
        migrations.AddIndex(
            model_name='post',
            index=models.Index(fields=['publication_order', 'id'], name='blog_post_published'),
        ),
        migrations.AddIndex(
            model_name='post',
            index=models.Index(condition=models.Q(('status', 'published')), fields=['publication_order', 'id'], name='blog_post_public_published'),
        ),
    ]
