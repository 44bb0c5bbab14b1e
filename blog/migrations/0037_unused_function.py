from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [('blog', '0036_claims_of_imports')]

    operations = [
        # Of blog_post_tags_set, a constraint that 0028 removes
        migrations.RunSQL('DROP FUNCTION IF EXISTS blog_is_set_of_words(varchar[])', migrations.RunSQL.noop),
    ]
