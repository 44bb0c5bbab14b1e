from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [('blog', '0026_one_check')]

    operations = [ValidateConstraint(model_name='post', name='blog_post_valid')]
