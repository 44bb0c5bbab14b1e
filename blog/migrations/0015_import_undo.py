from django.db import migrations, models

STATES = ['checking', 'checked', 'importing', 'done', 'cancelled', 'failed', 'undoing', 'undone']


class Migration(migrations.Migration):

    dependencies = [
        ('blog', '0014_no_times_in_the_future'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='importjob',
            name='blog_importjob_state_known',
        ),
        migrations.AddField(
            model_name='importjob',
            name='undone_by',
            field=models.BigIntegerField(help_text='The id of the user who undid the import.', null=True),
        ),
        migrations.AddField(
            model_name='importresult',
            name='details',
            field=models.JSONField(help_text='The post as the file describes it, and its missing images.', null=True),
        ),
        migrations.AddField(
            model_name='importresult',
            name='post_id',
            field=models.BigIntegerField(help_text='The id of the post that the import has written.', null=True),
        ),
        migrations.AlterField(
            model_name='importjob',
            name='state',
            field=models.CharField(choices=[('checking', 'Checking'), ('checked', 'Checked'), ('importing', 'Importing'), ('done', 'Done'), ('cancelled', 'Cancelled'), ('failed', 'Failed'), ('undoing', 'Undoing'), ('undone', 'Undone')], default='checking', max_length=10),
        ),
        migrations.AddConstraint(
            model_name='importjob',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', STATES)), name='blog_importjob_state_known'),
        ),
    ]
