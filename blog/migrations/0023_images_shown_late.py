from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('blog', '0022_fourth_renderer'),
    ]

    operations = [
        migrations.AddField(
            model_name='image',
            name='posts_outdated',
            field=models.BooleanField(db_default=False, default=False, help_text='Posts show what it was before.'),
        ),
        AddIndexConcurrently(
            model_name='image',
            index=models.Index(condition=models.Q(('posts_outdated', True)), fields=['id'], name='blog_image_shown_late'),
        ),
    ]
