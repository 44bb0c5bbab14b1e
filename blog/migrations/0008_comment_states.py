import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('blog', '0007_post_presence'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='comment',
            name='delete_delete',
        ),
        migrations.RemoveIndex(
            model_name='comment',
            name='blog_comment_post_oldest',
        ),
        migrations.AddField(
            model_name='comment',
            name='state',
            field=models.CharField(choices=[('visible', 'Visible'), ('hidden', 'Hidden'), ('deleted', 'Deleted')], db_default='visible', default='visible', editable=False, max_length=7),
        ),
        migrations.AddField(
            model_name='comment',
            name='state_changed_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='comment',
            name='state_changed_by',
            field=models.BigIntegerField(editable=False, help_text='The id of a user.', null=True),
        ),
        migrations.AddField(
            model_name='comment',
            name='state_changed_with',
            field=models.CharField(db_default='', default='', editable=False, help_text='The interface and the credential.', max_length=300),
        ),
        migrations.AddField(
            model_name='deletedcomment',
            name='state',
            field=models.CharField(choices=[('visible', 'Visible'), ('hidden', 'Hidden'), ('deleted', 'Deleted')], db_default='visible', default='visible', editable=False, max_length=7),
        ),
        migrations.AddField(
            model_name='deletedcomment',
            name='state_changed_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='deletedcomment',
            name='state_changed_by',
            field=models.BigIntegerField(editable=False, help_text='The id of a user.', null=True),
        ),
        migrations.AddField(
            model_name='deletedcomment',
            name='state_changed_with',
            field=models.CharField(db_default='', default='', editable=False, help_text='The interface and the credential.', max_length=300),
        ),
        migrations.AddIndex(
            model_name='comment',
            index=models.Index(fields=['post', 'state', 'created_at', 'id'], name='blog_comment_post_state'),
        ),
        migrations.AddIndex(
            model_name='comment',
            index=models.Index(condition=models.Q(('state', 'visible'), _negated=True), fields=['state', '-created_at', '-id'], name='blog_comment_moderated'),
        ),
        migrations.AddIndex(
            model_name='comment',
            index=models.Index(condition=models.Q(('state', 'deleted')), fields=['state_changed_at'], name='blog_comment_deleted'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='comment',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "blog_deletedcomment" ("author_id", "body", "created_at", "id", "pgh_created_at", "pgh_label", "post_id", "state", "state_changed_at", "state_changed_by", "state_changed_with") VALUES (OLD."author_id", OLD."body", OLD."created_at", OLD."id", NOW(), \'delete\', OLD."post_id", OLD."state", OLD."state_changed_at", OLD."state_changed_by", OLD."state_changed_with"); RETURN NULL;', hash='094a2d079c567bfaaa31632ee0b9c367be31a47c', operation='DELETE', pgid='pgtrigger_delete_delete_82cb6', table='blog_comment', when='AFTER')),
        ),
        migrations.AddConstraint(
            model_name='comment',
            constraint=models.CheckConstraint(condition=models.Q(('state', 'visible'), models.Q(('state__in', ['hidden', 'deleted']), ('state_changed_at__isnull', False)), _connector='OR'), name='blog_comment_state_known'),
        ),
    ]
