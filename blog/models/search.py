from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

from blog.models.authors import Author
from blog.models.coauthors import build_coauthor_ids
from blog.models.posts import Post


class PostSearch(models.Model):
    """What search finds a post by. The worker writes it (`blog.search.indexing`): a new post has none for some seconds.

    Authors, status and time are copies that select candidates. They have the names of `Post`, so that the policy
    applies to them. They can be out of date: a query must compare the post too. Without the constraints of foreign
    keys, the worker and a deletion never wait for each other.
    """

    shard_key = "post_id"
    post = models.OneToOneField(
        Post, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="search"
    )
    author = models.ForeignKey(
        Author, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    coauthor_ids = build_coauthor_ids()
    status = models.CharField(max_length=10)
    created_at = models.DateTimeField()
    language = models.CharField(max_length=63, help_text="The text search configuration of the document.")
    document = SearchVectorField()

    class Meta:
        indexes = [
            models.Index(fields=["-created_at", "-post"], name="blog_postsearch_newest"),
            # Without the pending list of GIN, which each search would read from start to end.
            GinIndex(fields=["document"], fastupdate=False, name="blog_postsearch_document"),
        ]

    def __str__(self) -> str:
        return str(self.post_id)


class SearchChange(models.Model):
    """A change of a post, or of an author's name, that search does not know yet. Triggers add it; the worker
    deletes it.

    No constraint and no unique index: the writer of a post never waits for the worker.
    """

    shard_key, shard_default = "post_id", "0"  # a change of an author is one of no post
    post_id = models.BigIntegerField(null=True)
    author_id = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"author {self.author_id}" if self.post_id is None else f"post {self.post_id}"
