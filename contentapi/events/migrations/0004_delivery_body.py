from django.db import migrations


class Migration(migrations.Migration):
    """The column stays until no sender of an earlier release writes it."""

    dependencies = [("events", "0003_tickets")]

    operations = [
        migrations.SeparateDatabaseAndState([], [migrations.RemoveField(model_name="delivery", name="body")]),
    ]
