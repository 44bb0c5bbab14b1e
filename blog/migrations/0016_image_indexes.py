import django.contrib.postgres.indexes
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('blog', '0015_images'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='post',
            index=django.contrib.postgres.indexes.GinIndex(condition=models.Q(('image_ids__isnull', False)), fields=['image_ids'], name='blog_post_images'),
        ),
        AddIndexConcurrently(
            model_name='post',
            index=models.Index(condition=models.Q(('cover_id__isnull', False)), fields=['cover_id'], name='blog_post_cover'),
        ),
        AddIndexConcurrently(
            model_name='post',
            index=models.Index(condition=models.Q(models.Q(('rendered_version', models.F('version')), _negated=True), ('renderer__lt', 3), _connector='OR'), fields=['id'], name='blog_post_unrendered_3'),
        ),
        RemoveIndexConcurrently(
            model_name='post',
            name='blog_post_unrendered_2',
        ),
    ]
