import contentapi.events.triggers
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [('blog', '0028_fewer_checks')]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='post',
            name='list_coauthors',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='post',
            name='announce_created',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='post',
            trigger=pgtrigger.compiler.Trigger(name='announce_created', sql=contentapi.events.triggers.AnnouncementSql(func='\n        IF NEW.coauthor_ids <> \'{}\' THEN \n            IF cardinality(NEW.coauthor_ids) > 10 OR NEW.author_id = ANY(NEW.coauthor_ids)\n                OR cardinality(NEW.coauthor_ids) <> (SELECT count(DISTINCT id) FROM unnest(NEW.coauthor_ids) AS id)\n            THEN\n                RAISE EXCEPTION \'new row for relation "blog_post" violates check constraint "blog_post_coauthors"\'\n                    USING ERRCODE = \'check_violation\', CONSTRAINT = \'blog_post_coauthors\', TABLE = \'blog_post\';\n            END IF;\n            INSERT INTO blog_coauthorship (post_id, author_id, created_at, is_public) SELECT NEW.id, id, NEW.created_at, NEW.status = \'published\' FROM unnest(NEW.coauthor_ids) AS id;\n        END IF; IF coalesce(current_setting(\'contentapi.silent\', true), \'\') NOT IN (\'everything\', \'post\') THEN INSERT INTO events_outbox (subject_id, version, now, type, actor_id, is_public, owner_ids) SELECT NEW.id, NEW.version, NEW.status, CASE NEW.version WHEN 1 THEN \'post.created\' ELSE \'post.restored\' END, NEW.changed_by, NEW.status = \'published\', NEW.author_id || NEW.coauthor_ids; END IF; RETURN NULL;', hash='b39df2076e357bf222d93f6cd35acd41e23487a4', operation='INSERT', pgid='pgtrigger_announce_created_f6bbf', table='blog_post', when='AFTER')),
        ),
    ]
