from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ('blog', '0036_claims_of_imports'),
        # Its operations build all models again that refer to users. A new database has few when they come first:
        # 0001_squashed_0037_unused_function depends on what this does.
        ('oauth2_provider', '0022_refreshtoken_token_family_index'),
    ]

    operations = [
        # Of blog_post_tags_set, a constraint that 0028 removes
        migrations.RunSQL('DROP FUNCTION IF EXISTS blog_is_set_of_words(varchar[])', migrations.RunSQL.noop),
    ]
