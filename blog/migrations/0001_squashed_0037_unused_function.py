"""What 0001 to 0037 make of an empty database. A database that has some of them gets the others one by one."""

import blog.models.conditions
import blog.models.slugs
import contentapi.db.ids
import contentapi.events.triggers
import datetime
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

# One function for all rules of a post: PostgreSQL prepares the text of each constraint again for each statement. A row that
# breaks a rule is refused by the name of the rule, as if it were a constraint of its own. The function uses nothing but
# PostgreSQL's own functions: `pg_restore` calls it without a search path.
CREATE_IS_VALID_POST = """
CREATE FUNCTION blog_is_valid_post(
    status varchar, title varchar, body text, tags varchar[], publish_at timestamptz, version bigint
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    word text;
    earlier text[] := '{}';
    failed text := CASE
        -- Most bodies need no count of their characters, because they have few bytes.
        WHEN octet_length(body) > 200000 AND char_length(body) > 200000 THEN 'body_length'
        WHEN (status = 'scheduled') <> (publish_at IS NOT NULL) THEN 'publish_at_iff_scheduled'
        WHEN status <> ALL ('{draft,scheduled,published,archived}') THEN 'status_known'
        WHEN cardinality(tags) > 20 THEN 'tags_number'
        WHEN title = '' THEN 'title_present'
        WHEN version < 1 THEN 'version_positive'
    END;
BEGIN
    FOREACH word IN ARRAY tags LOOP
        IF word IS NULL OR word = '' OR word = ANY (earlier) THEN
            failed := 'tags_set';
        END IF;
        earlier := earlier || word;
    END LOOP;
    IF failed IS NULL THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'new row for relation "blog_post" violates check constraint "blog_post_%"', failed
        USING ERRCODE = 'check_violation', CONSTRAINT = 'blog_post_' || failed, TABLE = 'blog_post';
END
$$
"""


class Migration(migrations.Migration):

    replaces = [
        ('blog', '0001_initial'),
        ('blog', '0002_author_created_index'),
        ('blog', '0003_cheaper_checks'),
        ('blog', '0004_validated_checks'),
        ('blog', '0005_slugs'),
        ('blog', '0006_slug_indexes'),
        ('blog', '0007_rendered_texts'),
        ('blog', '0008_unrendered_index'),
        ('blog', '0009_coauthors'),
        ('blog', '0010_working_copies'),
        ('blog', '0011_preview_links'),
        ('blog', '0012_slugs_of_deleted_posts'),
        ('blog', '0013_second_renderer'),
        ('blog', '0014_chosen_slugs'),
        ('blog', '0015_images'),
        ('blog', '0016_image_indexes'),
        ('blog', '0017_events'),
        ('blog', '0018_links_of_a_person'),
        ('blog', '0019_who_scheduled_copies'),
        ('blog', '0020_copy_versions'),
        ('blog', '0021_images_of_a_person'),
        ('blog', '0022_fourth_renderer'),
        ('blog', '0023_images_shown_late'),
        ('blog', '0024_images_shown_late_index'),
        ('blog', '0025_fifth_renderer'),
        ('blog', '0026_one_check'),
        ('blog', '0027_validated_check'),
        ('blog', '0028_fewer_checks'),
        ('blog', '0029_one_trigger_of_insert'),
        ('blog', '0030_one_trigger_of_update'),
        ('blog', '0031_one_trigger_of_delete'),
        ('blog', '0032_triggers_of_comments'),
        ('blog', '0033_triggers_of_images'),
        ('blog', '0034_triggers_of_authors'),
        ('blog', '0035_own_fields'),
        ('blog', '0036_claims_of_imports'),
        ('blog', '0037_unused_function'),
    ]

    initial = True

    dependencies = [
        ('contentapi', '0001_initial'),
        ('events', '0001_initial'),
        ('oauth2_provider', '0022_refreshtoken_token_family_index'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(
            CREATE_IS_VALID_POST,
            'DROP FUNCTION blog_is_valid_post(varchar, varchar, text, varchar[], timestamptz, bigint)',
        ),
        migrations.CreateModel(
            name='Author',
            fields=[
                ('id', contentapi.db.ids.SharedIdField(primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=150)),
                ('bio', models.TextField(blank=True)),
                ('avatar_url', models.URLField(blank=True, max_length=2000)),
                ('email', models.EmailField(blank=True, help_text='Shown to editors and to the author only.', max_length=254)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('user', models.OneToOneField(blank=True, help_text='The account behind this author. Imported authors have none.', null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('own', models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['name', 'id'], name='blog_author_name'),
                    models.Index(fields=['created_at'], name='blog_author_created'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='blog_author_name_present'),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='author',
            trigger=pgtrigger.compiler.Trigger(name='announce_created', sql=contentapi.events.triggers.AnnouncementSql(func="IF coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'author') THEN INSERT INTO events_outbox (actor_id, type, subject_id, is_public) SELECT (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, 'author.created', NEW.id, true; END IF; RETURN NULL;", hash='4ff9557014eadd46a9148303b94933b59921eb20', operation='INSERT', pgid='pgtrigger_announce_created_29c80', table='blog_author', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='author',
            trigger=pgtrigger.compiler.Trigger(name='announce_deleted', sql=contentapi.events.triggers.AnnouncementSql(func="IF coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'author') THEN INSERT INTO events_outbox (actor_id, type, subject_id, is_public) SELECT (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, 'author.deleted', OLD.id, true; END IF; RETURN NULL;", hash='2292af9d1d640e36b3630990cbcada2718e50e4b', operation='DELETE', pgid='pgtrigger_announce_deleted_4e038', table='blog_author', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='author',
            trigger=pgtrigger.compiler.Trigger(name='announce_updated', sql=contentapi.events.triggers.AnnouncementSql(func="IF ROW(OLD.name) IS DISTINCT FROM ROW(NEW.name) THEN INSERT INTO blog_searchchange (author_id) VALUES (NEW.id); END IF; IF ROW(OLD.name, OLD.bio, OLD.avatar_url, OLD.own, OLD.email) IS DISTINCT FROM ROW(NEW.name, NEW.bio, NEW.avatar_url, NEW.own, NEW.email) AND coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'author') THEN INSERT INTO events_outbox (actor_id, type, subject_id, changes, is_public, owner_ids) SELECT (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, 'author.updated', NEW.id, CASE WHEN ROW(OLD.name, OLD.bio, OLD.avatar_url, OLD.own) IS DISTINCT FROM ROW(NEW.name, NEW.bio, NEW.avatar_url, NEW.own) THEN array_remove(ARRAY[CASE WHEN OLD.name IS DISTINCT FROM NEW.name THEN 'name' END, CASE WHEN OLD.bio IS DISTINCT FROM NEW.bio THEN 'bio' END, CASE WHEN OLD.avatar_url IS DISTINCT FROM NEW.avatar_url THEN 'avatarUrl' END], NULL) || CASE WHEN OLD.own IS DISTINCT FROM NEW.own THEN ARRAY(SELECT key FROM jsonb_each(OLD.own || NEW.own) WHERE OLD.own -> key IS DISTINCT FROM NEW.own -> key ORDER BY key) ELSE '{}' END ELSE ARRAY['email'] END, ROW(OLD.name, OLD.bio, OLD.avatar_url, OLD.own) IS DISTINCT FROM ROW(NEW.name, NEW.bio, NEW.avatar_url, NEW.own), array_remove(ARRAY[NEW.user_id], NULL); END IF; RETURN NULL;", hash='cf6804bfb0e7769ab6078a1e563cac9b99465813', operation='UPDATE', pgid='pgtrigger_announce_updated_48852', table='blog_author', when='AFTER')),
        ),
        migrations.CreateModel(
            name='Post',
            fields=[
                ('id', contentapi.db.ids.SharedIdField(primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(max_length=200)),
                ('body', models.TextField(blank=True, help_text='Markdown.')),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('scheduled', 'Scheduled'), ('published', 'Published'), ('archived', 'Archived')], default='draft', max_length=10)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=50), blank=True, default=list, size=None)),
                ('publish_at', models.DateTimeField(blank=True, help_text='When a scheduled post will be published.', null=True)),
                ('published_at', models.DateTimeField(blank=True, help_text='When the post first became public.', null=True)),
                ('publication_order', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce('published_at', models.Value(datetime.datetime(9999, 12, 31, 0, 0, tzinfo=datetime.timezone.utc))), output_field=models.DateTimeField())),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('version', models.BigIntegerField(default=1, editable=False)),
                ('changed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now, editable=False)),
                ('changed_by', models.BigIntegerField(editable=False, help_text='The id of the user. The user may have been deleted.', null=True)),
                ('changed_with', models.CharField(db_default='database', default='database', editable=False, help_text='The interface and the credential.', max_length=300)),
                ('author', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='posts', to='blog.author')),
                ('canonical_url', models.CharField(max_length=2000, null=True)),
                ('slug', models.CharField(max_length=100, null=True)),
                ('body_html', models.TextField(editable=False, null=True)),
                ('default_description', models.TextField(editable=False, null=True)),
                ('default_excerpt', models.TextField(editable=False, null=True)),
                ('description', models.CharField(max_length=300, null=True)),
                ('excerpt', models.CharField(max_length=500, null=True)),
                ('rendered_version', models.BigIntegerField(editable=False, null=True)),
                ('renderer', models.SmallIntegerField(editable=False, null=True)),
                ('coauthor_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, db_default=[], default=list, size=None)),
                ('slug_is_chosen', models.BooleanField(db_default=False, default=False, editable=False)),
                ('cover_alt', models.CharField(max_length=500, null=True)),
                ('cover_id', models.BigIntegerField(help_text='The id of an image. The image may have been deleted.', null=True)),
                ('image_alts', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), editable=False, null=True, size=None)),
                ('image_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), editable=False, null=True, size=None)),
                ('own', models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['-created_at', '-id'], name='blog_post_newest'),
                    models.Index(fields=['updated_at', 'id'], name='blog_post_updated'),
                    models.Index(fields=['publication_order', 'id'], name='blog_post_published'),
                    models.Index(fields=['author', '-created_at', '-id'], name='blog_post_author_newest'),
                    django.contrib.postgres.indexes.GinIndex(fields=['tags'], name='blog_post_tags'),
                    models.Index(condition=models.Q(('status', 'published')), fields=['-created_at', '-id'], name='blog_post_public_newest'),
                    models.Index(condition=models.Q(('status', 'published')), fields=['updated_at', 'id'], name='blog_post_public_updated'),
                    models.Index(condition=models.Q(('status', 'published')), fields=['publication_order', 'id'], name='blog_post_public_published'),
                    models.Index(condition=models.Q(('status', 'published')), fields=['author', '-created_at', '-id'], name='blog_post_public_author'),
                    django.contrib.postgres.indexes.GinIndex(condition=models.Q(('status', 'published')), fields=['tags'], name='blog_post_public_tags'),
                    models.Index(condition=models.Q(('status', 'published'), _negated=True), fields=['status', '-created_at', '-id'], name='blog_post_hidden_newest'),
                    models.Index(condition=models.Q(('status', 'published'), _negated=True), fields=['status', 'updated_at', 'id'], name='blog_post_hidden_updated'),
                    models.Index(condition=models.Q(('status', 'published'), _negated=True), fields=['author', '-created_at', '-id'], name='blog_post_own_newest'),
                    models.Index(condition=models.Q(('status', 'scheduled')), fields=['publish_at'], name='blog_post_due'),
                    blog.models.slugs.UniqueIndex(fields=['slug'], name='blog_post_slug'),
                    models.Index(condition=models.Q(('slug__isnull', True)), fields=['id'], name='blog_post_without_slug'),
                    django.contrib.postgres.indexes.GinIndex(condition=models.Q(('image_ids__isnull', False)), fields=['image_ids'], name='blog_post_images'),
                    models.Index(condition=models.Q(('cover_id__isnull', False)), fields=['cover_id'], name='blog_post_cover'),
                    models.Index(condition=models.Q(models.Q(('rendered_version', models.F('version')), _negated=True), ('renderer__lt', 5), _connector='OR'), fields=['id'], name='blog_post_unrendered_5'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=blog.models.conditions.IsValidPost('status', 'title', 'body', 'tags', 'publish_at', 'version'), name='blog_post_valid'),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='post',
            trigger=pgtrigger.compiler.Trigger(name='announce_created', sql=contentapi.events.triggers.AnnouncementSql(func='\n        IF NEW.coauthor_ids <> \'{}\' THEN \n            IF cardinality(NEW.coauthor_ids) > 10 OR NEW.author_id = ANY(NEW.coauthor_ids)\n                OR cardinality(NEW.coauthor_ids) <> (SELECT count(DISTINCT id) FROM unnest(NEW.coauthor_ids) AS id)\n            THEN\n                RAISE EXCEPTION \'new row for relation "blog_post" violates check constraint "blog_post_coauthors"\'\n                    USING ERRCODE = \'check_violation\', CONSTRAINT = \'blog_post_coauthors\', TABLE = \'blog_post\';\n            END IF;\n            INSERT INTO blog_coauthorship (post_id, author_id, created_at, is_public) SELECT NEW.id, id, NEW.created_at, NEW.status = \'published\' FROM unnest(NEW.coauthor_ids) AS id;\n        END IF; IF coalesce(current_setting(\'contentapi.silent\', true), \'\') NOT IN (\'everything\', \'post\') THEN INSERT INTO events_outbox (subject_id, version, now, type, actor_id, is_public, owner_ids) SELECT NEW.id, NEW.version, NEW.status, CASE NEW.version WHEN 1 THEN \'post.created\' ELSE \'post.restored\' END, NEW.changed_by, NEW.status = \'published\', NEW.author_id || NEW.coauthor_ids; END IF; RETURN NULL;', hash='b39df2076e357bf222d93f6cd35acd41e23487a4', operation='INSERT', pgid='pgtrigger_announce_created_f6bbf', table='blog_post', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='post',
            trigger=pgtrigger.compiler.Trigger(name='announce_deleted', sql=contentapi.events.triggers.AnnouncementSql(func="\n        IF OLD.slug IS NOT NULL AND OLD.published_at IS NOT NULL THEN\n            INSERT INTO blog_oldslug (slug, post_id) VALUES (OLD.slug, OLD.id)\n            ON CONFLICT (slug) DO UPDATE SET post_id = EXCLUDED.post_id;\n        END IF; \n        DELETE FROM blog_workingcopy WHERE post_id = OLD.id;\n        DELETE FROM blog_previewlink WHERE post_id = OLD.id; \n        IF OLD.coauthor_ids <> '{}' THEN\n            DELETE FROM blog_coauthorship WHERE post_id = OLD.id;\n        END IF; IF coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'post') THEN INSERT INTO events_outbox (type, subject_id, version, was, actor_id, is_public, owner_ids) SELECT 'post.deleted', OLD.id, OLD.version, OLD.status, (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, OLD.status = 'published', OLD.author_id || OLD.coauthor_ids; END IF; RETURN NULL;", hash='c4d803496925b323399f0262a0c69ed0b6c8f522', operation='DELETE', pgid='pgtrigger_announce_deleted_f00be', table='blog_post', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='post',
            trigger=pgtrigger.compiler.Trigger(name='attribute_to_database', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."version" = (NEW."version") AND (OLD."title" IS DISTINCT FROM (NEW."title") OR OLD."slug" IS DISTINCT FROM (NEW."slug") OR OLD."canonical_url" IS DISTINCT FROM (NEW."canonical_url") OR OLD."excerpt" IS DISTINCT FROM (NEW."excerpt") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."cover_id" IS DISTINCT FROM (NEW."cover_id") OR OLD."cover_alt" IS DISTINCT FROM (NEW."cover_alt") OR OLD."body" IS DISTINCT FROM (NEW."body") OR OLD."tags" IS DISTINCT FROM (NEW."tags") OR OLD."own" IS DISTINCT FROM (NEW."own") OR OLD."status" IS DISTINCT FROM (NEW."status") OR OLD."publish_at" IS DISTINCT FROM (NEW."publish_at") OR OLD."published_at" IS DISTINCT FROM (NEW."published_at") OR OLD."author_id" IS DISTINCT FROM (NEW."author_id") OR OLD."coauthor_ids" IS DISTINCT FROM (NEW."coauthor_ids") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at")) AND NOT (NEW."slug" IS NOT NULL AND OLD."slug" IS NULL))', func="\n        NEW.version = OLD.version + 1;\n        NEW.updated_at = clock_timestamp();\n        NEW.changed_at = NEW.updated_at;\n        NEW.changed_by = NULL;\n        NEW.changed_with = 'database';\n        RETURN NEW;\n    ", hash='fa5a06c9754436088aaaac40e0457c42c81126cb', operation='UPDATE', pgid='pgtrigger_attribute_to_database_d4359', table='blog_post', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='post',
            trigger=pgtrigger.compiler.Trigger(name='announce_updated', sql=contentapi.events.triggers.AnnouncementSql(func='\n        IF OLD.slug IS DISTINCT FROM NEW.slug AND OLD.published_at IS NOT NULL THEN\n            DELETE FROM blog_oldslug WHERE slug = NEW.slug AND post_id = NEW.id;\n            IF OLD.slug IS NOT NULL THEN\n                INSERT INTO blog_oldslug (slug, post_id) VALUES (OLD.slug, NEW.id)\n                ON CONFLICT (slug) DO UPDATE SET post_id = EXCLUDED.post_id;\n            END IF;\n        END IF; \n        IF (OLD.coauthor_ids <> \'{}\' OR NEW.coauthor_ids <> \'{}\')\n            AND (OLD.coauthor_ids, OLD.author_id, OLD.status, OLD.created_at)\n                IS DISTINCT FROM (NEW.coauthor_ids, NEW.author_id, NEW.status, NEW.created_at)\n        THEN \n            IF cardinality(NEW.coauthor_ids) > 10 OR NEW.author_id = ANY(NEW.coauthor_ids)\n                OR cardinality(NEW.coauthor_ids) <> (SELECT count(DISTINCT id) FROM unnest(NEW.coauthor_ids) AS id)\n            THEN\n                RAISE EXCEPTION \'new row for relation "blog_post" violates check constraint "blog_post_coauthors"\'\n                    USING ERRCODE = \'check_violation\', CONSTRAINT = \'blog_post_coauthors\', TABLE = \'blog_post\';\n            END IF;\n            DELETE FROM blog_coauthorship WHERE post_id = NEW.id;\n            INSERT INTO blog_coauthorship (post_id, author_id, created_at, is_public) SELECT NEW.id, id, NEW.created_at, NEW.status = \'published\' FROM unnest(NEW.coauthor_ids) AS id;\n        END IF; IF OLD.version <> NEW.version AND ROW(OLD.title, OLD.body, OLD.tags, OLD.status, OLD.author_id, OLD.coauthor_ids, OLD.created_at) IS DISTINCT FROM ROW(NEW.title, NEW.body, NEW.tags, NEW.status, NEW.author_id, NEW.coauthor_ids, NEW.created_at) THEN INSERT INTO blog_searchchange (post_id) VALUES (NEW.id); END IF; IF OLD.version <> NEW.version AND coalesce(current_setting(\'contentapi.silent\', true), \'\') NOT IN (\'everything\', \'post\') THEN INSERT INTO events_outbox (subject_id, version, now, type, was, changes, actor_id, is_public, owner_ids) SELECT NEW.id, NEW.version, NEW.status, \'post.\' || CASE\n    WHEN NEW.status = \'scheduled\' AND (OLD.status <> NEW.status OR OLD.publish_at <> NEW.publish_at) THEN \'scheduled\'\n    WHEN NEW.status = OLD.status THEN \'updated\'\n    WHEN NEW.status <> \'draft\' THEN NEW.status\n    WHEN OLD.status = \'archived\' THEN \'restored\'\n    ELSE \'unpublished\' END, OLD.status, array_remove(ARRAY[CASE WHEN OLD.title IS DISTINCT FROM NEW.title THEN \'title\' END, CASE WHEN OLD.slug IS DISTINCT FROM NEW.slug THEN \'slug\' END, CASE WHEN OLD.canonical_url IS DISTINCT FROM NEW.canonical_url THEN \'canonicalUrl\' END, CASE WHEN OLD.excerpt IS DISTINCT FROM NEW.excerpt THEN \'excerpt\' END, CASE WHEN OLD.description IS DISTINCT FROM NEW.description THEN \'description\' END, CASE WHEN OLD.cover_id IS DISTINCT FROM NEW.cover_id THEN \'coverId\' END, CASE WHEN OLD.cover_alt IS DISTINCT FROM NEW.cover_alt THEN \'coverAlt\' END, CASE WHEN OLD.body IS DISTINCT FROM NEW.body THEN \'body\' END, CASE WHEN OLD.tags IS DISTINCT FROM NEW.tags THEN \'tags\' END, CASE WHEN OLD.status IS DISTINCT FROM NEW.status THEN \'status\' END, CASE WHEN OLD.publish_at IS DISTINCT FROM NEW.publish_at THEN \'publishAt\' END, CASE WHEN OLD.published_at IS DISTINCT FROM NEW.published_at THEN \'publishedAt\' END, CASE WHEN OLD.author_id IS DISTINCT FROM NEW.author_id THEN \'authorId\' END, CASE WHEN OLD.coauthor_ids IS DISTINCT FROM NEW.coauthor_ids THEN \'coauthorIds\' END, CASE WHEN OLD.created_at IS DISTINCT FROM NEW.created_at THEN \'createdAt\' END], NULL) || CASE WHEN OLD.own IS DISTINCT FROM NEW.own THEN ARRAY(SELECT key FROM jsonb_each(OLD.own || NEW.own) WHERE OLD.own -> key IS DISTINCT FROM NEW.own -> key ORDER BY key) ELSE \'{}\' END, NEW.changed_by, \'published\' IN (OLD.status, NEW.status), OLD.author_id || OLD.coauthor_ids || NEW.author_id || NEW.coauthor_ids; END IF; RETURN NULL;', hash='6f42876e3bbeee894f63e78d69e7afc9dd3b1fb1', operation='UPDATE', pgid='pgtrigger_announce_updated_3abb0', table='blog_post', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='post',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."version" IS DISTINCT FROM (NEW."version"))', func='INSERT INTO "blog_postversion" ("author_id", "body", "canonical_url", "changed_at", "changed_by", "changed_with", "coauthor_ids", "cover_alt", "cover_id", "created_at", "description", "excerpt", "id", "own", "pgh_context", "pgh_created_at", "pgh_label", "publish_at", "published_at", "slug", "slug_is_chosen", "status", "tags", "title", "updated_at", "version") VALUES (OLD."author_id", OLD."body", OLD."canonical_url", OLD."changed_at", OLD."changed_by", OLD."changed_with", OLD."coauthor_ids", OLD."cover_alt", OLD."cover_id", OLD."created_at", OLD."description", OLD."excerpt", OLD."id", OLD."own", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', OLD."publish_at", OLD."published_at", OLD."slug", OLD."slug_is_chosen", OLD."status", OLD."tags", OLD."title", OLD."updated_at", OLD."version"); RETURN NULL;', hash='2d2a94f17a2a6b98198a8e4a9493e4c1a7dbc156', operation='UPDATE', pgid='pgtrigger_update_update_58edf', table='blog_post', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='post',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "blog_postversion" ("author_id", "body", "canonical_url", "changed_at", "changed_by", "changed_with", "coauthor_ids", "cover_alt", "cover_id", "created_at", "description", "excerpt", "id", "own", "pgh_context", "pgh_created_at", "pgh_label", "publish_at", "published_at", "slug", "slug_is_chosen", "status", "tags", "title", "updated_at", "version") VALUES (OLD."author_id", OLD."body", OLD."canonical_url", OLD."changed_at", OLD."changed_by", OLD."changed_with", OLD."coauthor_ids", OLD."cover_alt", OLD."cover_id", OLD."created_at", OLD."description", OLD."excerpt", OLD."id", OLD."own", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."publish_at", OLD."published_at", OLD."slug", OLD."slug_is_chosen", OLD."status", OLD."tags", OLD."title", OLD."updated_at", OLD."version"); RETURN NULL;', hash='4a1d4c0649af801de76cdbc5402bad0ebd5a8038', operation='DELETE', pgid='pgtrigger_delete_delete_e411d', table='blog_post', when='AFTER')),
        ),
        migrations.CreateModel(
            name='PostVersion',
            fields=[
                ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                ('pgh_label', models.TextField(help_text='The event label.')),
                ('pgh_context', pghistory.utils.JSONField(null=True)),
                ('id', models.BigIntegerField()),
                ('title', models.CharField(max_length=200)),
                ('body', models.TextField(blank=True, help_text='Markdown.')),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=50), blank=True, default=list, size=None)),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('scheduled', 'Scheduled'), ('published', 'Published'), ('archived', 'Archived')], default='draft', max_length=10)),
                ('publish_at', models.DateTimeField(blank=True, help_text='When a scheduled post will be published.', null=True)),
                ('published_at', models.DateTimeField(blank=True, help_text='When the post first became public.', null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('version', models.BigIntegerField(default=1, editable=False)),
                ('changed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now, editable=False)),
                ('changed_by', models.BigIntegerField(editable=False, help_text='The id of the user. The user may have been deleted.', null=True)),
                ('changed_with', models.CharField(db_default='database', default='database', editable=False, help_text='The interface and the credential.', max_length=300)),
                ('pgh_id', models.BigAutoField(primary_key=True, serialize=False)),
                ('author', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='blog.author')),
                ('canonical_url', models.CharField(max_length=2000, null=True)),
                ('slug', models.CharField(max_length=100, null=True)),
                ('description', models.CharField(max_length=300, null=True)),
                ('excerpt', models.CharField(max_length=500, null=True)),
                ('coauthor_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, db_default=[], default=list, size=None)),
                ('slug_is_chosen', models.BooleanField(db_default=False, default=False, editable=False)),
                ('cover_alt', models.CharField(max_length=500, null=True)),
                ('cover_id', models.BigIntegerField(help_text='The id of an image. The image may have been deleted.', null=True)),
                ('own', models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['id', 'version'], name='blog_postversion_post'),
                    models.Index(condition=models.Q(('pgh_label', 'delete')), fields=['pgh_created_at'], name='blog_postversion_deleted'),
                ],
            },
        ),
        migrations.CreateModel(
            name='OldSlug',
            fields=[
                ('slug', models.CharField(max_length=100, primary_key=True, serialize=False)),
                ('post_id', models.BigIntegerField()),
            ],
            options={
                'indexes': [
                    models.Index(fields=['post_id'], name='blog_oldslug_post'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Coauthorship',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField()),
                ('is_public', models.BooleanField()),
                ('author', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='coauthorships', to='blog.author')),
                ('post', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='coauthorships', to='blog.post')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['author', 'is_public', '-created_at', '-post'], name='blog_coauthorship_newest'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('post', 'author'), name='blog_coauthorship_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='PostSource',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.TextField(help_text='The name of the site that the file belongs to.')),
                ('path', models.TextField(help_text='Relative to the folder that was imported.')),
                ('digest', models.BinaryField(help_text='SHA-256 of the file as it was last imported.', max_length=32)),
                ('authors', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), help_text="All authors named by the file; the first is the post's.", size=None)),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('scheduled', 'Scheduled'), ('published', 'Published'), ('archived', 'Archived')], help_text='The state that the last import called for.', max_length=10)),
                ('publish_at', models.DateTimeField(help_text='The time of publication that the last import called for.', null=True)),
                ('front_matter', models.JSONField(default=dict, help_text='The keys of the file that have no field here.')),
                ('post', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='source', to='blog.post')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('source', 'path'), name='blog_postsource_file_unique'),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='postsource',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "blog_deletedpostsource" ("authors", "digest", "front_matter", "id", "path", "pgh_created_at", "pgh_label", "post_id", "publish_at", "source", "status") VALUES (OLD."authors", OLD."digest", OLD."front_matter", OLD."id", OLD."path", NOW(), \'delete\', OLD."post_id", OLD."publish_at", OLD."source", OLD."status"); RETURN NULL;', hash='93a2a38db899e0b3a43c8f30fb29ef46a75ab139', operation='DELETE', pgid='pgtrigger_delete_delete_2db49', table='blog_postsource', when='AFTER')),
        ),
        migrations.CreateModel(
            name='DeletedPostSource',
            fields=[
                ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                ('pgh_label', models.TextField(help_text='The event label.')),
                ('id', models.BigIntegerField()),
                ('source', models.TextField(help_text='The name of the site that the file belongs to.')),
                ('path', models.TextField(help_text='Relative to the folder that was imported.')),
                ('digest', models.BinaryField(help_text='SHA-256 of the file as it was last imported.', max_length=32)),
                ('authors', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), help_text="All authors named by the file; the first is the post's.", size=None)),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('scheduled', 'Scheduled'), ('published', 'Published'), ('archived', 'Archived')], help_text='The state that the last import called for.', max_length=10)),
                ('publish_at', models.DateTimeField(help_text='The time of publication that the last import called for.', null=True)),
                ('front_matter', models.JSONField(default=dict, help_text='The keys of the file that have no field here.')),
                ('pgh_id', models.BigAutoField(primary_key=True, serialize=False)),
                ('post', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='blog.post')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['pgh_created_at'], name='blog_deletedsource_time'),
                ],
            },
        ),
        migrations.CreateModel(
            name='PostSearch',
            fields=[
                ('post', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='search', serialize=False, to='blog.post')),
                ('status', models.CharField(max_length=10)),
                ('created_at', models.DateTimeField()),
                ('language', models.CharField(help_text='The text search configuration of the document.', max_length=63)),
                ('document', django.contrib.postgres.search.SearchVectorField()),
                ('author', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='blog.author')),
                ('coauthor_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, db_default=[], default=list, size=None)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['-created_at', '-post'], name='blog_postsearch_newest'),
                    django.contrib.postgres.indexes.GinIndex(fastupdate=False, fields=['document'], name='blog_postsearch_document'),
                ],
            },
        ),
        # The table is scanned, and few of its documents are read: they are stored beside it, and not compressed.
        migrations.RunSQL(
            "ALTER TABLE blog_postsearch ALTER COLUMN document SET STORAGE EXTERNAL, SET (toast_tuple_target = 128)",
            migrations.RunSQL.noop,
        ),
        migrations.CreateModel(
            name='SearchChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('post_id', models.BigIntegerField(null=True)),
                ('author_id', models.BigIntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Comment',
            fields=[
                ('id', contentapi.db.ids.SharedIdField(primary_key=True, serialize=False, verbose_name='ID')),
                ('body', models.TextField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('state', models.CharField(choices=[('visible', 'Visible'), ('hidden', 'Hidden'), ('deleted', 'Deleted')], db_default='visible', default='visible', editable=False, max_length=7)),
                ('state_changed_at', models.DateTimeField(editable=False, null=True)),
                ('state_changed_by', models.BigIntegerField(editable=False, help_text='The id of the user. The user may have been deleted.', null=True)),
                ('state_changed_with', models.CharField(db_default='', default='', editable=False, help_text='The interface and the credential.', max_length=300)),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='blog.author')),
                ('post', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='blog.post')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['post', 'state', 'created_at', 'id'], name='blog_comment_post_state'),
                    models.Index(fields=['-created_at', '-id'], name='blog_comment_newest'),
                    models.Index(condition=models.Q(('state', 'visible'), _negated=True), fields=['state', '-created_at', '-id'], name='blog_comment_moderated'),
                    models.Index(condition=models.Q(('state', 'deleted')), fields=['state_changed_at'], name='blog_comment_deleted'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('body', ''), _negated=True), name='blog_comment_body_present'),
                    models.CheckConstraint(condition=models.Q(('state', 'visible'), models.Q(('state__in', ['hidden', 'deleted']), ('state_changed_at__isnull', False)), _connector='OR'), name='blog_comment_state_known'),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='comment',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "blog_deletedcomment" ("author_id", "body", "created_at", "id", "pgh_created_at", "pgh_label", "post_id", "state", "state_changed_at", "state_changed_by", "state_changed_with") VALUES (OLD."author_id", OLD."body", OLD."created_at", OLD."id", NOW(), \'delete\', OLD."post_id", OLD."state", OLD."state_changed_at", OLD."state_changed_by", OLD."state_changed_with"); RETURN NULL;', hash='094a2d079c567bfaaa31632ee0b9c367be31a47c', operation='DELETE', pgid='pgtrigger_delete_delete_82cb6', table='blog_comment', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='comment',
            trigger=pgtrigger.compiler.Trigger(name='announce_created', sql=contentapi.events.triggers.AnnouncementSql(func="IF coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'comment') THEN INSERT INTO events_outbox (type, subject_id, parent_id, now, actor_id, is_public, owner_ids) SELECT 'comment.created', NEW.id, post.id, NEW.state, (SELECT user_id FROM blog_author WHERE id = NEW.author_id), post.status = 'published' AND NEW.state = 'visible', ARRAY[post.author_id] FROM blog_post AS post WHERE post.id = NEW.post_id AND NEW.state <> 'deleted'; END IF; RETURN NULL;", hash='eb648a6a838fd6d90cae008ff9ea4b461267a19e', operation='INSERT', pgid='pgtrigger_announce_created_ca49b', table='blog_comment', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='comment',
            trigger=pgtrigger.compiler.Trigger(name='announce_updated', sql=contentapi.events.triggers.AnnouncementSql(func="IF OLD.state <> NEW.state AND coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'comment') THEN INSERT INTO events_outbox (type, subject_id, parent_id, was, now, changes, actor_id, is_public, owner_ids) SELECT 'comment.' || CASE NEW.state WHEN 'visible' THEN 'shown' ELSE NEW.state END, NEW.id, post.id, nullif(OLD.state, 'deleted'), nullif(NEW.state, 'deleted'), ARRAY['state'], NEW.state_changed_by, post.status = 'published' AND 'visible' IN (OLD.state, NEW.state), ARRAY[post.author_id] FROM blog_post AS post WHERE post.id = NEW.post_id; END IF; RETURN NULL;", hash='564508b50c79d40274818201f4cea4019e08fc2f', operation='UPDATE', pgid='pgtrigger_announce_updated_2c6f9', table='blog_comment', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='comment',
            trigger=pgtrigger.compiler.Trigger(name='announce_deleted', sql=contentapi.events.triggers.AnnouncementSql(func="IF OLD.state <> 'deleted' AND coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'comment') THEN INSERT INTO events_outbox (type, subject_id, parent_id, was, actor_id, is_public, owner_ids) SELECT 'comment.deleted', OLD.id, post.id, OLD.state, (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, post.status = 'published' AND OLD.state = 'visible', ARRAY[post.author_id] FROM blog_post AS post WHERE post.id = OLD.post_id; END IF; RETURN NULL;", hash='9f043c839439bb00545a5fd2f3f08c45708c8ece', operation='DELETE', pgid='pgtrigger_announce_deleted_7b6ee', table='blog_comment', when='AFTER')),
        ),
        migrations.CreateModel(
            name='DeletedComment',
            fields=[
                ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                ('pgh_label', models.TextField(help_text='The event label.')),
                ('id', models.BigIntegerField()),
                ('body', models.TextField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('state', models.CharField(choices=[('visible', 'Visible'), ('hidden', 'Hidden'), ('deleted', 'Deleted')], db_default='visible', default='visible', editable=False, max_length=7)),
                ('state_changed_at', models.DateTimeField(editable=False, null=True)),
                ('state_changed_by', models.BigIntegerField(editable=False, help_text='The id of the user. The user may have been deleted.', null=True)),
                ('state_changed_with', models.CharField(db_default='', default='', editable=False, help_text='The interface and the credential.', max_length=300)),
                ('pgh_id', models.BigAutoField(primary_key=True, serialize=False)),
                ('author', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='blog.author')),
                ('post', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='blog.post')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['post'], name='blog_deletedcomment_post'),
                    models.Index(fields=['pgh_created_at'], name='blog_deletedcomment_time'),
                ],
            },
        ),
        migrations.CreateModel(
            name='WorkingCopy',
            fields=[
                ('post', models.OneToOneField(on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='working_copy', serialize=False, to='blog.post')),
                ('content', models.JSONField(default=dict)),
                ('base_version', models.BigIntegerField(help_text='The version of the post on which the changes are based.')),
                ('version', models.BigIntegerField()),
                ('publish_at', models.DateTimeField(help_text='When the worker will publish the changes.', null=True)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_by', models.BigIntegerField(help_text='The id of the user. The user may have been deleted.', null=True)),
                ('scheduled_by', models.BigIntegerField(help_text='The id of the user who chose this time.', null=True)),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('publish_at__isnull', False)), fields=['publish_at'], name='blog_workingcopy_due'),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='workingcopy',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."version" IS DISTINCT FROM (NEW."version"))', func='INSERT INTO "blog_copyversion" ("base_version", "content", "pgh_context", "pgh_created_at", "pgh_label", "post_id", "updated_at", "updated_by", "version") VALUES (OLD."base_version", OLD."content", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', OLD."post_id", OLD."updated_at", OLD."updated_by", OLD."version"); RETURN NULL;', hash='d51fbbe6a5a0919348683e82ccbcedcd5119156c', operation='UPDATE', pgid='pgtrigger_update_update_67667', table='blog_workingcopy', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='workingcopy',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "blog_copyversion" ("base_version", "content", "pgh_context", "pgh_created_at", "pgh_label", "post_id", "updated_at", "updated_by", "version") VALUES (OLD."base_version", OLD."content", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."post_id", OLD."updated_at", OLD."updated_by", OLD."version"); RETURN NULL;', hash='13f6308c0afbabd014c4d69fa68420ed459bc0e3', operation='DELETE', pgid='pgtrigger_delete_delete_94d5a', table='blog_workingcopy', when='AFTER')),
        ),
        migrations.CreateModel(
            name='CopyVersion',
            fields=[
                ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                ('pgh_label', models.TextField(help_text='The event label.')),
                ('pgh_context', pghistory.utils.JSONField(null=True)),
                ('content', models.JSONField(default=dict)),
                ('base_version', models.BigIntegerField(help_text='The version of the post on which the changes are based.')),
                ('version', models.BigIntegerField()),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_by', models.BigIntegerField(help_text='The id of the user. The user may have been deleted.', null=True)),
                ('pgh_id', models.BigAutoField(primary_key=True, serialize=False)),
                ('post', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', serialize=False, to='blog.post')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['post', 'version'], name='blog_copyversion_post'),
                ],
            },
        ),
        migrations.CreateModel(
            name='PreviewLink',
            fields=[
                ('id', contentapi.db.ids.SharedIdField(primary_key=True, serialize=False, verbose_name='ID')),
                ('mode', models.CharField(choices=[('latest', 'Latest'), ('version', 'Version'), ('site', 'Site')], max_length=10)),
                ('version', models.BigIntegerField(help_text='The version that a link of the mode `version` shows.', null=True)),
                ('note', models.CharField(default='', max_length=200)),
                ('digest', models.BinaryField(max_length=32)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('maker', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('post', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='preview_links', to='blog.post')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['post', 'expires_at'], name='blog_previewlink_post'),
                    models.Index(fields=['maker', 'expires_at'], name='blog_previewlink_maker'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('digest',), name='blog_previewlink_digest_unique'),
                ],
            },
        ),
        migrations.CreateModel(
            name='PostPresence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('post_id', models.BigIntegerField()),
                ('page', models.UUIDField(help_text='The number that the page got when it was opened.')),
                ('opened_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField()),
                ('user', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['seen_at'], name='blog_postpresence_seen'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('post_id', 'user', 'page'), name='blog_postpresence_page'),
                ],
            },
        ),
        # The rows live for seconds: they need no write-ahead log, and no copy after a crash.
        migrations.RunSQL("ALTER TABLE blog_postpresence SET UNLOGGED", migrations.RunSQL.noop),
        migrations.CreateModel(
            name='Image',
            fields=[
                ('id', contentapi.db.ids.SharedIdField(primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=150)),
                ('alt', models.CharField(default='', max_length=500)),
                ('caption', models.CharField(default='', max_length=1000)),
                ('credit', models.CharField(default='', max_length=300)),
                ('owner_id', models.BigIntegerField(help_text='The id of the user. The user may have been deleted.', null=True)),
                ('status', models.CharField(choices=[('processing', 'Processing'), ('ready', 'Ready'), ('rejected', 'Rejected')], default='processing', max_length=10)),
                ('rejection', models.TextField(help_text='Why the file was rejected.', null=True)),
                ('content_type', models.CharField(max_length=20)),
                ('size', models.IntegerField(help_text='Of the original, in bytes.')),
                ('width', models.IntegerField(default=0)),
                ('height', models.IntegerField(default=0)),
                ('focal_x', models.FloatField(default=0.5)),
                ('focal_y', models.FloatField(default=0.5)),
                ('thumbhash', models.CharField(default='', max_length=40)),
                ('key', models.CharField(default='', help_text='The part of the addresses that nobody can guess.', max_length=32)),
                ('original', models.CharField(default='', help_text='The name of the file, such as 4000.jpg.', max_length=12)),
                ('widths', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), default=list, size=None)),
                ('formats', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=4), default=list, size=None)),
                ('sha256', models.BinaryField(help_text='Of the uploaded file.', max_length=32)),
                ('original_sha256', models.BinaryField(help_text='Of the original.', max_length=32, null=True)),
                ('outdated_at', models.DateTimeField(help_text='Since when there are public files that it does not name.', null=True)),
                ('stored', models.BigIntegerField(default=0, help_text='The bytes of all public files.')),
                ('source', models.CharField(default='', max_length=40)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How often a worker has begun to process it.')),
                ('claimed_until', models.DateTimeField(help_text="Until when it is that worker's alone.", null=True)),
                ('version', models.BigIntegerField(default=1)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now)),
                ('deleted_at', models.DateTimeField(null=True)),
                ('posts_outdated', models.BooleanField(db_default=False, default=False, help_text='Posts show what it was before.')),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('deleted_at__isnull', True)), fields=['-created_at', '-id'], name='blog_image_newest'),
                    models.Index(condition=models.Q(models.Q(('source', ''), _negated=True), ('deleted_at__isnull', True)), fields=['id'], name='blog_image_waiting'),
                    models.Index(condition=models.Q(('deleted_at__isnull', True), _negated=True), fields=['deleted_at'], name='blog_image_deleted'),
                    models.Index(condition=models.Q(('outdated_at__isnull', False), ('source', '')), fields=['id'], name='blog_image_outdated'),
                    models.Index(fields=['sha256'], name='blog_image_sha256'),
                    models.Index(fields=['original_sha256'], name='blog_image_original_sha256'),
                    models.Index(fields=['owner_id', 'updated_at'], name='blog_image_owner'),
                    models.Index(condition=models.Q(('posts_outdated', True)), fields=['id'], name='blog_image_shown_late'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('status__in', ['processing', 'ready', 'rejected'])), name='blog_image_status_known'),
                    models.CheckConstraint(condition=models.Q(('focal_x__range', (0, 1)), ('focal_y__range', (0, 1))), name='blog_image_focal_point_inside'),
                    models.CheckConstraint(condition=models.Q(models.Q(('status', 'ready'), _negated=True), models.Q(('height__gt', 0), ('width__gt', 0), models.Q(('key', ''), _negated=True)), _connector='OR'), name='blog_image_ready_with_files'),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='image',
            trigger=pgtrigger.compiler.Trigger(name='announce_created', sql=contentapi.events.triggers.AnnouncementSql(func="IF coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'image') THEN INSERT INTO events_outbox (subject_id, version, owner_ids, type, now, actor_id) SELECT NEW.id, NEW.version, ARRAY[NEW.owner_id], 'image.created', NEW.status, NEW.owner_id; END IF; RETURN NULL;", hash='c5f5d642fcc0fd3434f7c74c8e11727b84fa04ec', operation='INSERT', pgid='pgtrigger_announce_created_92aee', table='blog_image', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='image',
            trigger=pgtrigger.compiler.Trigger(name='announce_updated', sql=contentapi.events.triggers.AnnouncementSql(func="IF OLD.version <> NEW.version AND (OLD.deleted_at IS NULL OR NEW.deleted_at IS NULL) AND coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'image') THEN INSERT INTO events_outbox (subject_id, version, owner_ids, type, was, now, changes, actor_id, is_public) SELECT NEW.id, NEW.version, ARRAY[NEW.owner_id], CASE WHEN NEW.deleted_at IS NOT NULL THEN 'image.deleted' WHEN OLD.deleted_at IS NOT NULL THEN 'image.created' ELSE 'image.updated' END, CASE WHEN OLD.deleted_at IS NULL THEN OLD.status END, CASE WHEN NEW.deleted_at IS NULL THEN NEW.status END, ARRAY(SELECT DISTINCT unnest(array_remove(ARRAY[CASE WHEN OLD.name IS DISTINCT FROM NEW.name THEN 'name' END, CASE WHEN OLD.alt IS DISTINCT FROM NEW.alt THEN 'alt' END, CASE WHEN OLD.caption IS DISTINCT FROM NEW.caption THEN 'caption' END, CASE WHEN OLD.credit IS DISTINCT FROM NEW.credit THEN 'credit' END, CASE WHEN OLD.status IS DISTINCT FROM NEW.status THEN 'status' END, CASE WHEN OLD.rejection IS DISTINCT FROM NEW.rejection THEN 'rejection' END, CASE WHEN OLD.focal_x IS DISTINCT FROM NEW.focal_x THEN 'focalPoint' END, CASE WHEN OLD.focal_y IS DISTINCT FROM NEW.focal_y THEN 'focalPoint' END, CASE WHEN OLD.key IS DISTINCT FROM NEW.key THEN 'url' END], NULL)) ORDER BY 1), (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, EXISTS (SELECT FROM blog_post WHERE status = 'published' AND (cover_id = NEW.id OR image_ids @> ARRAY[NEW.id])); END IF; RETURN NULL;", hash='82ecb6421389f24ad30d7f3b4752d89eaeac7c6a', operation='UPDATE', pgid='pgtrigger_announce_updated_56958', table='blog_image', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='image',
            trigger=pgtrigger.compiler.Trigger(name='announce_deleted', sql=contentapi.events.triggers.AnnouncementSql(func="IF OLD.deleted_at IS NULL AND coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'image') THEN INSERT INTO events_outbox (type, subject_id, version, was, actor_id, is_public, owner_ids) SELECT 'image.deleted', OLD.id, OLD.version, OLD.status, (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, EXISTS (SELECT FROM blog_post WHERE status = 'published' AND (cover_id = OLD.id OR image_ids @> ARRAY[OLD.id])), ARRAY[OLD.owner_id]; END IF; RETURN NULL;", hash='40b315decff87c49092d9c0ff11f5e79a1257e6c', operation='DELETE', pgid='pgtrigger_announce_deleted_0d21b', table='blog_image', when='AFTER')),
        ),
        migrations.CreateModel(
            name='ImageUpload',
            fields=[
                ('id', contentapi.db.ids.SharedIdField(primary_key=True, serialize=False, verbose_name='ID')),
                ('owner_id', models.BigIntegerField(null=True)),
                ('name', models.CharField(max_length=150)),
                ('content_type', models.CharField(max_length=20)),
                ('size', models.IntegerField()),
                ('sha256', models.BinaryField(max_length=32)),
                ('image_id', models.BigIntegerField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
            ],
            options={
                'indexes': [
                    models.Index(fields=['created_at'], name='blog_imageupload_created'),
                    models.Index(fields=['owner_id'], name='blog_imageupload_owner'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ImportJob',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('file_name', models.TextField()),
                ('source', models.TextField(help_text='The name of the site that the files belong to.')),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('scheduled', 'Scheduled'), ('published', 'Published'), ('archived', 'Archived')], help_text='The state of posts whose file has none.', max_length=10)),
                ('state', models.CharField(choices=[('checking', 'Checking'), ('checked', 'Checked'), ('importing', 'Importing'), ('done', 'Done'), ('cancelled', 'Cancelled'), ('failed', 'Failed'), ('undoing', 'Undoing'), ('undone', 'Undone')], default='checking', max_length=10)),
                ('total', models.PositiveIntegerField(help_text='The number of Markdown files.')),
                ('done', models.PositiveIntegerField(default=0, help_text='The number of files that are checked or imported.')),
                ('ignored', models.PositiveIntegerField(help_text='The number of files that are not Markdown.')),
                ('problem', models.TextField(blank=True, help_text='Why the import failed.')),
                ('run', models.PositiveIntegerField(default=0, help_text='How often a worker has begun or continued the work.')),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='The runs since the last file that was finished.')),
                ('undone_by', models.BigIntegerField(help_text='The id of the user who undid the import.', null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When the worker last finished a file.')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('claimed_until', models.DateTimeField(help_text="Until when it is that worker's alone.", null=True)),
            ],
            options={
                'verbose_name': 'import',
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('state__in', ['checking', 'checked', 'importing', 'done', 'cancelled', 'failed', 'undoing', 'undone'])), name='blog_importjob_state_known'),
                    models.UniqueConstraint(condition=models.Q(('state', 'importing')), fields=('source',), name='blog_importjob_one_per_source'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ImportPiece',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('content', models.BinaryField()),
                ('job', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='pieces', to='blog.importjob')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('job', 'number'), name='blog_importpiece_unique'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ImportResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_plan', models.BooleanField()),
                ('number', models.PositiveIntegerField(help_text='The place of the file in the zip file.')),
                ('path', models.TextField()),
                ('outcome', models.CharField(max_length=10)),
                ('reason', models.TextField(blank=True, help_text='Why the file was refused, and what to write instead.')),
                ('post_id', models.BigIntegerField(help_text='The id of the post that the import has written.', null=True)),
                ('details', models.JSONField(help_text='The post as the file describes it, and its missing images.', null=True)),
                ('job', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='results', to='blog.importjob')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('job', 'is_plan', 'number'), name='blog_importresult_unique'),
                ],
            },
        ),
    ]
