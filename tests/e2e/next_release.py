"""The migrations of a next release: it adds a column, an index and a constraint."""

from pathlib import Path

MIGRATIONS = {
    "expand": """
        migrations.AddField("post", "subtitle", models.CharField(max_length=80, default="", db_default="")),
        AddConstraintNotValid("post", models.CheckConstraint(
            condition=~models.Q(subtitle="forbidden"), name="blog_post_subtitle_allowed")),
""",
    "index": """
        AddIndexConcurrently("post", models.Index(fields=["subtitle", "id"], name="blog_post_subtitle")),
""",
    "validate": """
        ValidateConstraint("post", "blog_post_subtitle_allowed"),
""",
}
TEMPLATE = """from django.contrib.postgres.operations import *
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = {atomic}
    dependencies = [("blog", "{parent}")]
    operations = [{operations}    ]
"""


def write_migrations(release: Path) -> None:
    """Add the migrations of the new release, after the last one."""
    folder = release / "blog" / "migrations"
    parent = max(path.stem for path in folder.glob("0*.py"))
    for number, (name, operations) in enumerate(MIGRATIONS.items(), int(parent[:4]) + 1):
        text = TEMPLATE.format(atomic=name != "index", parent=parent, operations=operations)
        parent = f"{number:04}_{name}"
        (folder / f"{parent}.py").write_text(text)
