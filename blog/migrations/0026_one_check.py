"""One function for all rules of a post. PostgreSQL prepares the text of each constraint again for each statement.

A row that breaks a rule is refused by the name of the rule, as if it were a constraint of its own. The function uses
nothing but PostgreSQL's own functions: `pg_restore` calls it without a search path.
"""

import blog.models.conditions
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

CREATE = """
CREATE OR REPLACE FUNCTION blog_is_valid_post(
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
    dependencies = [('blog', '0025_fifth_renderer')]

    operations = [
        migrations.RunSQL(CREATE, migrations.RunSQL.noop),
        AddConstraintNotValid(
            model_name='post',
            constraint=models.CheckConstraint(
                condition=blog.models.conditions.IsValidPost(
                    'status', 'title', 'body', 'tags', 'publish_at', 'version'
                ),
                name='blog_post_valid',
            ),
        ),
    ]
