from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

import blog.models.slugs


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('blog', '0005_slugs'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='post',
            index=blog.models.slugs.UniqueIndex(fields=['slug'], name='blog_post_slug'),
        ),
        AddIndexConcurrently(
            model_name='post',
            index=models.Index(condition=models.Q(('slug__isnull', True)), fields=['id'], name='blog_post_without_slug'),
        ),
    ]
