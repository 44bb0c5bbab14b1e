import contentapi.events.triggers
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [('blog', '0031_one_trigger_of_delete')]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='comment',
            name='announce_created',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='comment',
            name='announce_updated',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='comment',
            name='announce_deleted',
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
    ]
