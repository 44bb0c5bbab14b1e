from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('blog', '0021_images_of_a_person'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='post',
            index=models.Index(condition=models.Q(models.Q(('rendered_version', models.F('version')), _negated=True), ('renderer__lt', 4), _connector='OR'), fields=['id'], name='blog_post_unrendered_4'),
        ),
        RemoveIndexConcurrently(
            model_name='post',
            name='blog_post_unrendered_3',
        ),
    ]
