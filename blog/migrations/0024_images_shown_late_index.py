from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('blog', '0023_images_shown_late'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='image',
            index=models.Index(condition=models.Q(('posts_outdated', True)), fields=['id'], name='blog_image_shown_late'),
        ),
    ]
