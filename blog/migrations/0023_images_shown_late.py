from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('blog', '0022_fourth_renderer'),
    ]

    operations = [
        migrations.AddField(
            model_name='image',
            name='posts_outdated',
            field=models.BooleanField(db_default=False, default=False, help_text='Posts show what it was before.'),
        ),
    ]
