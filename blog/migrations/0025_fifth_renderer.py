from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('blog', '0024_images_shown_late_index'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='post',
            index=models.Index(condition=models.Q(models.Q(('rendered_version', models.F('version')), _negated=True), ('renderer__lt', 5), _connector='OR'), fields=['id'], name='blog_post_unrendered_5'),
        ),
        RemoveIndexConcurrently(
            model_name='post',
            name='blog_post_unrendered_4',
        ),
    ]
