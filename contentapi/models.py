from django.db import models


class IdempotencyRecord(models.Model):
    """The stored response to a POST with an Idempotency-Key, which repeated requests get again."""

    key = models.CharField(primary_key=True, max_length=64, help_text="SHA-256 of the credential and the key.")
    request = models.CharField(max_length=64, help_text="SHA-256 of the request.")
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField()
    body = models.BinaryField()
    created_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.key
