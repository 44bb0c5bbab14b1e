import contentapi.events.triggers
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [('blog', '0032_triggers_of_comments')]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='image',
            name='announce_created',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='image',
            name='announce_updated',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='image',
            name='announce_deleted',
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
    ]
