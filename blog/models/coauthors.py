from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from blog.models.authors import Author
from contentapi.db.placement import insert_rows

MAX_COAUTHORS = 10
COAUTHORS = "blog_post_coauthors"  # the name of the constraint that the triggers check

CHECK = f"""
            IF cardinality(NEW.coauthor_ids) > {MAX_COAUTHORS} OR NEW.author_id = ANY(NEW.coauthor_ids)
                OR cardinality(NEW.coauthor_ids) <> (SELECT count(DISTINCT id) FROM unnest(NEW.coauthor_ids) AS id)
            THEN
                RAISE EXCEPTION 'new row for relation "blog_post" violates check constraint "{COAUTHORS}"'
                    USING ERRCODE = 'check_violation', CONSTRAINT = '{COAUTHORS}', TABLE = 'blog_post';
            END IF;"""  # noqa: S608 - constants
ROW = {"post_id": "NEW.id", "author_id": "id", "created_at": "NEW.created_at", "is_public": "NEW.status = 'published'"}
ROWS = "FROM unnest(NEW.coauthor_ids) AS id"
INSERTIONS = (
    f"INSERT INTO blog_coauthorship ({', '.join(ROW)}) SELECT {', '.join(ROW.values())} {ROWS};",
    insert_rows("blog_coauthorship", ROW, ROWS),
)
LIST = """
        IF NEW.coauthor_ids <> '{{}}' THEN {check}
            {insertion}
        END IF;"""
LIST_AGAIN = """
        IF (OLD.coauthor_ids <> '{{}}' OR NEW.coauthor_ids <> '{{}}')
            AND (OLD.coauthor_ids, OLD.author_id, OLD.status, OLD.created_at)
                IS DISTINCT FROM (NEW.coauthor_ids, NEW.author_id, NEW.status, NEW.created_at)
        THEN {check}
            DELETE FROM blog_coauthorship WHERE post_id = NEW.id;
            {insertion}
        END IF;"""
# A server of the release before deletes a post without knowing of these rows.
UNLIST = """
        IF OLD.coauthor_ids <> '{}' THEN
            DELETE FROM blog_coauthorship WHERE post_id = OLD.id;
        END IF;"""
LIST_COAUTHORS = tuple(LIST.format(check=CHECK, insertion=each) for each in INSERTIONS)
LIST_COAUTHORS_AGAIN = tuple(LIST_AGAIN.format(check=CHECK, insertion=each) for each in INSERTIONS)
UNLIST_COAUTHORS = UNLIST, UNLIST


def build_coauthor_ids() -> ArrayField[list[int], list[int]]:
    """Return the column of the co-authors of a post. Servers of the release before insert rows without it."""
    return ArrayField(models.BigIntegerField(), default=list, db_default=[], blank=True)


class Coauthorship(models.Model):
    """A co-author of a post: an entry of the list of an author's posts.

    `Post.coauthor_ids` states who they are, and triggers write these rows. Time and state are copies, so that the index
    has the order of the lists. The foreign key keeps an author from being deleted.
    """

    shard_key = "post_id"
    post = models.ForeignKey("blog.Post", on_delete=models.DO_NOTHING, related_name="coauthorships", db_index=False)
    author = models.ForeignKey(Author, on_delete=models.PROTECT, related_name="coauthorships", db_index=False)
    created_at = models.DateTimeField()
    is_public = models.BooleanField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["post", "author"], name="blog_coauthorship_once")]
        indexes = [
            models.Index(fields=["author", "is_public", "-created_at", "-post"], name="blog_coauthorship_newest")
        ]

    def __str__(self) -> str:
        return f"author {self.author_id} of post {self.post_id}"
