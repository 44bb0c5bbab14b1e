from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("events", "0002_webhooks"),
    ]

    operations = [
        migrations.CreateModel(
            name="Ticket",
            fields=[
                ("digest", models.CharField(help_text="SHA-256 of the ticket.", max_length=64, primary_key=True, serialize=False)),
                ("credential", models.BinaryField(help_text="The credential that it replaces, encrypted.")),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
            options={"db_table": "events_ticket"},
        ),
    ]
