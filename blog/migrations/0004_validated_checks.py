from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [('blog', '0003_cheaper_checks')]

    operations = [
        ValidateConstraint(model_name='post', name='blog_post_status_known'),
        ValidateConstraint(model_name='post', name='blog_post_body_length'),
        ValidateConstraint(model_name='post', name='blog_post_tags_number'),
        ValidateConstraint(model_name='post', name='blog_post_publish_at_iff_scheduled'),
    ]
