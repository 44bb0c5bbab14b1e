import contentapi.events.triggers
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [('blog', '0030_one_trigger_of_update')]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='post',
            name='unlist_coauthors',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='post',
            name='delete_working_copy',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='post',
            name='delete_preview_links',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='post',
            name='keep_slug_of_deleted',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='post',
            name='announce_deleted',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='post',
            trigger=pgtrigger.compiler.Trigger(name='announce_deleted', sql=contentapi.events.triggers.AnnouncementSql(func="\n        IF OLD.slug IS NOT NULL AND OLD.published_at IS NOT NULL THEN\n            INSERT INTO blog_oldslug (slug, post_id) VALUES (OLD.slug, OLD.id)\n            ON CONFLICT (slug) DO UPDATE SET post_id = EXCLUDED.post_id;\n        END IF; \n        DELETE FROM blog_workingcopy WHERE post_id = OLD.id;\n        DELETE FROM blog_previewlink WHERE post_id = OLD.id; \n        IF OLD.coauthor_ids <> '{}' THEN\n            DELETE FROM blog_coauthorship WHERE post_id = OLD.id;\n        END IF; IF coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'post') THEN INSERT INTO events_outbox (type, subject_id, version, was, actor_id, is_public, owner_ids) SELECT 'post.deleted', OLD.id, OLD.version, OLD.status, (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, OLD.status = 'published', OLD.author_id || OLD.coauthor_ids; END IF; RETURN NULL;", hash='c4d803496925b323399f0262a0c69ed0b6c8f522', operation='DELETE', pgid='pgtrigger_announce_deleted_f00be', table='blog_post', when='AFTER')),
        ),
    ]
