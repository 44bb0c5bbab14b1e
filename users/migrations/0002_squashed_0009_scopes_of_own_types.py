"""What 0002 to 0009 make of the tables of 0001. A database that has some of them gets the others one by one.

0001 stays apart: the migrations of django-oauth-toolkit depend on it, and these on them.
"""

import contentapi.events.triggers
import django.contrib.postgres.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('users', '0002_issued_tokens'),
        ('users', '0003_user_created_index'),
        ('users', '0004_scope_of_images'),
        ('users', '0005_events'),
        ('users', '0006_scope_of_webhooks'),
        ('users', '0007_locked_at'),
        ('users', '0008_triggers_without_conditions'),
        ('users', '0009_scopes_of_own_types'),
    ]

    dependencies = [
        ('users', '0001_initial'),
        ('events', '0001_initial'),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='IssuedToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('jti', models.CharField(max_length=64, unique=True)),
                ('role', models.CharField(max_length=10)),
                ('is_oauth', models.BooleanField(default=False)),
                ('family', models.UUIDField(null=True)),
                ('code', models.CharField(blank=True, max_length=64)),
                ('expires_at', models.DateTimeField()),
                ('access_token', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='issued', to=settings.OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(models.F('expires_at'), name='users_issuedtoken_expires'),
                    models.Index(models.F('code'), condition=models.Q(('code', ''), _negated=True), name='users_issuedtoken_code'),
                ],
            },
        ),
        migrations.RemoveIndex(
            model_name='user',
            name='users_user_oldest',
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(fields=['created_at'], name='users_user_created'),
        ),
        migrations.AddField(
            model_name='user',
            name='locked_at',
            field=models.DateTimeField(editable=False, help_text='The last lock, at which sessions ended.', null=True),
        ),
        migrations.RemoveConstraint(
            model_name='apikey',
            name='users_apikey_scopes_known',
        ),
        # The service knows the scopes: the own types of a project add to them.
        migrations.AlterField(
            model_name='apikey',
            name='scopes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), size=None),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='user',
            trigger=pgtrigger.compiler.Trigger(name='announce_created', sql=contentapi.events.triggers.AnnouncementSql(func="IF coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'user') THEN INSERT INTO events_outbox (subject_id, actor_id, owner_ids, type) SELECT NEW.id, (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, ARRAY[NEW.id], 'user.created'; END IF; RETURN NULL;", hash='0ab5079b619cd4f332b2588edb1b19b92d1c80de', operation='INSERT', pgid='pgtrigger_announce_created_fb1f2', table='users_user', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='user',
            trigger=pgtrigger.compiler.Trigger(name='announce_updated', sql=contentapi.events.triggers.AnnouncementSql(func="IF ROW(OLD.name, OLD.email, OLD.role, OLD.is_active) IS DISTINCT FROM ROW(NEW.name, NEW.email, NEW.role, NEW.is_active) AND coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'user') THEN INSERT INTO events_outbox (subject_id, actor_id, owner_ids, type, changes) SELECT NEW.id, (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, ARRAY[NEW.id], 'user.updated', array_remove(ARRAY[CASE WHEN OLD.name IS DISTINCT FROM NEW.name THEN 'name' END, CASE WHEN OLD.email IS DISTINCT FROM NEW.email THEN 'email' END, CASE WHEN OLD.role IS DISTINCT FROM NEW.role THEN 'role' END, CASE WHEN OLD.is_active IS DISTINCT FROM NEW.is_active THEN 'isActive' END], NULL); END IF; RETURN NULL;", hash='8092c419a11ffcdd4394381213596a1296b6b2a3', operation='UPDATE', pgid='pgtrigger_announce_updated_6520c', table='users_user', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='user',
            trigger=pgtrigger.compiler.Trigger(name='announce_deleted', sql=contentapi.events.triggers.AnnouncementSql(func="IF coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'user') THEN INSERT INTO events_outbox (subject_id, actor_id, owner_ids, type) SELECT OLD.id, (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, ARRAY[OLD.id], 'user.deleted'; END IF; RETURN NULL;", hash='fda63d7b1f76fd7e266c2e52b8b949ea65506bfb', operation='DELETE', pgid='pgtrigger_announce_deleted_1e34b', table='users_user', when='AFTER')),
        ),
    ]
