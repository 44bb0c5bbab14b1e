from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('blog', '0007_rendered_texts'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='post',
            index=models.Index(condition=models.Q(models.Q(('rendered_version', models.F('version')), _negated=True), ('renderer__lt', 1), _connector='OR'), fields=['id'], name='blog_post_unrendered'),
        ),
    ]
