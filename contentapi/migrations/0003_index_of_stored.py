from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('contentapi', '0002_stored_of_users'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='idempotencyrecord',
            index=models.Index(fields=['user_id'], include=('size',), name='contentapi_stored_of_user'),
        ),
    ]
