from django.conf import settings
from django.db import models


class PostPresence(models.Model):
    """A page of the admin in which a person has a post open. The page renews it; it expires after 90 seconds.

    The table is unlogged: after a crash of PostgreSQL it is empty, and the open pages fill it again.
    """

    post_id = models.BigIntegerField()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    page = models.UUIDField(help_text="The number that the page got when it was opened.")
    opened_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["post_id", "user", "page"], name="blog_postpresence_page")]
        indexes = [models.Index(fields=["seen_at"], name="blog_postpresence_seen")]

    def __str__(self) -> str:
        return f"user {self.user_id} has post {self.post_id} open"
