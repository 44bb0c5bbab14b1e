"""What 0001 to 0003 make of an empty database. A database that has some of them gets the others one by one."""

from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('contentapi', '0001_initial'),
        ('contentapi', '0002_stored_of_users'),
        ('contentapi', '0003_index_of_stored'),
    ]

    initial = True

    dependencies = [
    ]

    operations = [
        # contentapi.db.ids: the tables of all types of the graph take their ids from it.
        migrations.RunSQL("CREATE SEQUENCE contentapi_id_seq", "DROP SEQUENCE contentapi_id_seq"),
        migrations.CreateModel(
            name='IdempotencyRecord',
            fields=[
                ('key', models.CharField(help_text='SHA-256 of the credential and the key.', max_length=64, primary_key=True, serialize=False)),
                ('request', models.CharField(help_text='SHA-256 of the request.', max_length=64)),
                ('status', models.PositiveSmallIntegerField()),
                ('headers', models.JSONField()),
                ('body', models.BinaryField()),
                ('created_at', models.DateTimeField(db_index=True)),
                ('size', models.IntegerField(db_default=0, default=0, help_text='Of the headers and the body, in bytes.')),
                ('user_id', models.BigIntegerField(null=True)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['user_id'], include=('size',), name='contentapi_stored_of_user'),
                ],
            },
        ),
        migrations.CreateModel(
            name='JobHeartbeat',
            fields=[
                ('job', models.TextField(primary_key=True, serialize=False)),
                ('beat_at', models.DateTimeField()),
                ('worked_at', models.DateTimeField()),
            ],
        ),
    ]
