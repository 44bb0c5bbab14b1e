import contentapi.events.triggers
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [('blog', '0029_one_trigger_of_insert')]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='post',
            name='list_coauthors_again',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='post',
            name='search_change',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='post',
            name='keep_old_slug',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='post',
            name='announce_updated',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='post',
            trigger=pgtrigger.compiler.Trigger(name='announce_updated', sql=contentapi.events.triggers.AnnouncementSql(func='\n        IF OLD.slug IS DISTINCT FROM NEW.slug AND OLD.published_at IS NOT NULL THEN\n            DELETE FROM blog_oldslug WHERE slug = NEW.slug AND post_id = NEW.id;\n            IF OLD.slug IS NOT NULL THEN\n                INSERT INTO blog_oldslug (slug, post_id) VALUES (OLD.slug, NEW.id)\n                ON CONFLICT (slug) DO UPDATE SET post_id = EXCLUDED.post_id;\n            END IF;\n        END IF; \n        IF (OLD.coauthor_ids <> \'{}\' OR NEW.coauthor_ids <> \'{}\')\n            AND (OLD.coauthor_ids, OLD.author_id, OLD.status, OLD.created_at)\n                IS DISTINCT FROM (NEW.coauthor_ids, NEW.author_id, NEW.status, NEW.created_at)\n        THEN \n            IF cardinality(NEW.coauthor_ids) > 10 OR NEW.author_id = ANY(NEW.coauthor_ids)\n                OR cardinality(NEW.coauthor_ids) <> (SELECT count(DISTINCT id) FROM unnest(NEW.coauthor_ids) AS id)\n            THEN\n                RAISE EXCEPTION \'new row for relation "blog_post" violates check constraint "blog_post_coauthors"\'\n                    USING ERRCODE = \'check_violation\', CONSTRAINT = \'blog_post_coauthors\', TABLE = \'blog_post\';\n            END IF;\n            DELETE FROM blog_coauthorship WHERE post_id = NEW.id;\n            INSERT INTO blog_coauthorship (post_id, author_id, created_at, is_public) SELECT NEW.id, id, NEW.created_at, NEW.status = \'published\' FROM unnest(NEW.coauthor_ids) AS id;\n        END IF; IF OLD.version <> NEW.version AND ROW(OLD.title, OLD.body, OLD.tags, OLD.status, OLD.author_id, OLD.coauthor_ids, OLD.created_at) IS DISTINCT FROM ROW(NEW.title, NEW.body, NEW.tags, NEW.status, NEW.author_id, NEW.coauthor_ids, NEW.created_at) THEN INSERT INTO blog_searchchange (post_id) VALUES (NEW.id); END IF; IF OLD.version <> NEW.version AND coalesce(current_setting(\'contentapi.silent\', true), \'\') NOT IN (\'everything\', \'post\') THEN INSERT INTO events_outbox (subject_id, version, now, type, was, changes, actor_id, is_public, owner_ids) SELECT NEW.id, NEW.version, NEW.status, \'post.\' || CASE\n    WHEN NEW.status = \'scheduled\' AND (OLD.status <> NEW.status OR OLD.publish_at <> NEW.publish_at) THEN \'scheduled\'\n    WHEN NEW.status = OLD.status THEN \'updated\'\n    WHEN NEW.status <> \'draft\' THEN NEW.status\n    WHEN OLD.status = \'archived\' THEN \'restored\'\n    ELSE \'unpublished\' END, OLD.status, array_remove(ARRAY[CASE WHEN OLD.title IS DISTINCT FROM NEW.title THEN \'title\' END, CASE WHEN OLD.slug IS DISTINCT FROM NEW.slug THEN \'slug\' END, CASE WHEN OLD.canonical_url IS DISTINCT FROM NEW.canonical_url THEN \'canonicalUrl\' END, CASE WHEN OLD.excerpt IS DISTINCT FROM NEW.excerpt THEN \'excerpt\' END, CASE WHEN OLD.description IS DISTINCT FROM NEW.description THEN \'description\' END, CASE WHEN OLD.cover_id IS DISTINCT FROM NEW.cover_id THEN \'coverId\' END, CASE WHEN OLD.cover_alt IS DISTINCT FROM NEW.cover_alt THEN \'coverAlt\' END, CASE WHEN OLD.body IS DISTINCT FROM NEW.body THEN \'body\' END, CASE WHEN OLD.tags IS DISTINCT FROM NEW.tags THEN \'tags\' END, CASE WHEN OLD.status IS DISTINCT FROM NEW.status THEN \'status\' END, CASE WHEN OLD.publish_at IS DISTINCT FROM NEW.publish_at THEN \'publishAt\' END, CASE WHEN OLD.published_at IS DISTINCT FROM NEW.published_at THEN \'publishedAt\' END, CASE WHEN OLD.author_id IS DISTINCT FROM NEW.author_id THEN \'authorId\' END, CASE WHEN OLD.coauthor_ids IS DISTINCT FROM NEW.coauthor_ids THEN \'coauthorIds\' END, CASE WHEN OLD.created_at IS DISTINCT FROM NEW.created_at THEN \'createdAt\' END], NULL), NEW.changed_by, \'published\' IN (OLD.status, NEW.status), OLD.author_id || OLD.coauthor_ids || NEW.author_id || NEW.coauthor_ids; END IF; RETURN NULL;', hash='e4054b7a7c2371abf47a204e4687fb2823079879', operation='UPDATE', pgid='pgtrigger_announce_updated_3abb0', table='blog_post', when='AFTER')),
        ),
    ]
