from django.db import migrations, models

# Without the extensions pg_trgm and fuzzystrmatch, the function returns nothing, and the table stays empty.
CREATE_STUB = """
    CREATE FUNCTION blog_find_similar_words(term text) RETURNS tsquery LANGUAGE sql STABLE AS 'SELECT NULL::tsquery'
"""

# `term` is a term of blog.search.parse_search: 'word':*. A term that begins a known word has no similar words.
USE_TRIGRAMS = """
    DO $migration$ BEGIN
      IF (SELECT count(*) FROM pg_available_extensions WHERE name IN ('pg_trgm', 'fuzzystrmatch')) < 2 THEN
        RETURN;
      END IF;
      CREATE EXTENSION IF NOT EXISTS pg_trgm;
      CREATE EXTENSION IF NOT EXISTS fuzzystrmatch;
      CREATE INDEX blog_searchword_trigrams ON blog_searchword USING gin (word gin_trgm_ops);
      CREATE OR REPLACE FUNCTION blog_find_similar_words(term text) RETURNS tsquery LANGUAGE sql STABLE AS $function$
        SELECT string_agg(quote_literal(spelled.word), ' | ')::tsquery
        FROM (SELECT substring(lower(term) FROM '^''([[:alpha:]]{4,40})'':\\*$') AS word) AS given,
          LATERAL (
            SELECT known.word FROM blog_searchword AS known
            WHERE known.word % given.word AND levenshtein_less_equal(known.word, given.word, 2) <= 2
              AND NOT EXISTS (
                SELECT FROM blog_searchword AS begun
                WHERE begun.word >= given.word COLLATE "C" AND begun.word < (given.word || chr(1114111)) COLLATE "C")
            ORDER BY levenshtein(known.word, given.word), similarity(known.word, given.word) DESC, known.word LIMIT 5
          ) AS spelled
      $function$;
      UPDATE blog_postsearch SET language = '';  -- The clock writes the documents again, and with them the words.
    EXCEPTION WHEN insufficient_privilege THEN
      RAISE WARNING 'Search does not find misspelled words: this user may not create extensions.';
    END $migration$
"""


class Migration(migrations.Migration):

    dependencies = [
        ("blog", "0009_import_jobs"),
    ]

    operations = [
        migrations.CreateModel(
            name="SearchWord",
            fields=[
                ("word", models.TextField(db_collation="C", primary_key=True, serialize=False)),
            ],
        ),
        migrations.RunSQL(CREATE_STUB, "DROP FUNCTION blog_find_similar_words(text)"),
        migrations.RunSQL(USE_TRIGRAMS, migrations.RunSQL.noop),
    ]
