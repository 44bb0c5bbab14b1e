import contentapi.events.triggers
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations

# A distributed database has the functions that triggers use on each node, and these on the coordinator alone.
UNUSED = """
DROP FUNCTION IF EXISTS
    pgtrigger_delete_preview_links_ad073,
    pgtrigger_delete_working_copy_c4b3a,
    pgtrigger_keep_old_slug_7639d,
    pgtrigger_keep_slug_of_deleted_bc243,
    pgtrigger_list_coauthors_e7c82,
    pgtrigger_list_coauthors_again_d277d,
    pgtrigger_search_change_611cb,
    pgtrigger_unlist_coauthors_bfdc4,
    pgtrigger_search_change_f8af6
"""


class Migration(migrations.Migration):
    dependencies = [('blog', '0033_triggers_of_images')]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='author',
            name='search_change',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='author',
            name='announce_created',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='author',
            name='announce_updated',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='author',
            name='announce_deleted',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='author',
            trigger=pgtrigger.compiler.Trigger(name='announce_created', sql=contentapi.events.triggers.AnnouncementSql(func="IF coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'author') THEN INSERT INTO events_outbox (actor_id, type, subject_id, is_public) SELECT (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, 'author.created', NEW.id, true; END IF; RETURN NULL;", hash='4ff9557014eadd46a9148303b94933b59921eb20', operation='INSERT', pgid='pgtrigger_announce_created_29c80', table='blog_author', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='author',
            trigger=pgtrigger.compiler.Trigger(name='announce_updated', sql=contentapi.events.triggers.AnnouncementSql(func="IF ROW(OLD.name) IS DISTINCT FROM ROW(NEW.name) THEN INSERT INTO blog_searchchange (author_id) VALUES (NEW.id); END IF; IF ROW(OLD.name, OLD.bio, OLD.avatar_url, OLD.email) IS DISTINCT FROM ROW(NEW.name, NEW.bio, NEW.avatar_url, NEW.email) AND coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'author') THEN INSERT INTO events_outbox (actor_id, type, subject_id, changes, is_public, owner_ids) SELECT (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, 'author.updated', NEW.id, CASE WHEN ROW(OLD.name, OLD.bio, OLD.avatar_url) IS DISTINCT FROM ROW(NEW.name, NEW.bio, NEW.avatar_url) THEN array_remove(ARRAY[CASE WHEN OLD.name IS DISTINCT FROM NEW.name THEN 'name' END, CASE WHEN OLD.bio IS DISTINCT FROM NEW.bio THEN 'bio' END, CASE WHEN OLD.avatar_url IS DISTINCT FROM NEW.avatar_url THEN 'avatarUrl' END], NULL) ELSE ARRAY['email'] END, ROW(OLD.name, OLD.bio, OLD.avatar_url) IS DISTINCT FROM ROW(NEW.name, NEW.bio, NEW.avatar_url), array_remove(ARRAY[NEW.user_id], NULL); END IF; RETURN NULL;", hash='b5ca5eaac8092cce1e6bbb493c61d9b856558083', operation='UPDATE', pgid='pgtrigger_announce_updated_48852', table='blog_author', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='author',
            trigger=pgtrigger.compiler.Trigger(name='announce_deleted', sql=contentapi.events.triggers.AnnouncementSql(func="IF coalesce(current_setting('contentapi.silent', true), '') NOT IN ('everything', 'author') THEN INSERT INTO events_outbox (actor_id, type, subject_id, is_public) SELECT (nullif(current_setting('pghistory.context_metadata', true), '')::jsonb ->> 'changed_by')::bigint, 'author.deleted', OLD.id, true; END IF; RETURN NULL;", hash='2292af9d1d640e36b3630990cbcada2718e50e4b', operation='DELETE', pgid='pgtrigger_announce_deleted_4e038', table='blog_author', when='AFTER')),
        ),
        migrations.RunSQL(UNUSED, migrations.RunSQL.noop),
    ]
