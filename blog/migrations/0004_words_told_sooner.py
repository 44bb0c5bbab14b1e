from django.db import migrations

# A function in SQL is planned anew wherever a constraint calls it; one in PL/pgSQL once for a connection, and for no
# tags it need not look at all. The constraint of the posts stays as it is.
SOONER = """
    CREATE OR REPLACE FUNCTION blog_is_set_of_words(words varchar[]) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
    BEGIN
        IF cardinality(words) = 0 THEN
            RETURN true;
        END IF;
        RETURN (
            SELECT count(*) = count(DISTINCT word) AND coalesce(bool_and(word <> ''), true)
            FROM unnest(words) AS word
        );
    END
    $$
"""
AS_BEFORE = """
    CREATE OR REPLACE FUNCTION blog_is_set_of_words(words varchar[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (
        SELECT count(*) = count(DISTINCT word) AND coalesce(bool_and(word <> ''), true)
        FROM unnest(words) AS word
    )
"""


class Migration(migrations.Migration):

    dependencies = [
        ('blog', '0003_indexes_of_connections'),
    ]

    operations = [migrations.RunSQL(SOONER, AS_BEFORE)]
