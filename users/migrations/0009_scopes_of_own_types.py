"""The scopes of API keys are those of the project, which its own types add to: the service knows them."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('users', '0008_triggers_without_conditions'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='apikey',
            name='users_apikey_scopes_known',
        ),
        migrations.AlterField(
            model_name='apikey',
            name='scopes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), size=None),
        ),
    ]
