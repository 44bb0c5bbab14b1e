from django.db import models


class IdempotencyRecord(models.Model):
    """The stored, encrypted response to a write with an Idempotency-Key, which repeated requests get again."""

    key = models.CharField(primary_key=True, max_length=64, help_text="SHA-256 of the credential and the key.")
    request = models.CharField(max_length=64, help_text="SHA-256 of the request.")
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField()
    body = models.BinaryField()
    created_at = models.DateTimeField(db_index=True)
    user_id = models.BigIntegerField(null=True)
    size = models.IntegerField(default=0, db_default=0, help_text="Of the headers and the body, in bytes.")

    class Meta:
        indexes = [models.Index(fields=["user_id"], include=["size"], name="contentapi_stored_of_user")]

    def __str__(self) -> str:
        return self.key


class JobHeartbeat(models.Model):
    """When a worker with this job was last alive, by the time of the database. All workers share the row.

    `worked_at` is when the job last made progress. A job that hangs is alive and makes none.
    """

    job = models.TextField(primary_key=True)
    beat_at = models.DateTimeField()
    worked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.job}, alive at {self.beat_at:%Y-%m-%d %H:%M:%S}"
