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


class ClockHeartbeat(models.Model):
    """When a clock was last alive, by the time of the database. There is one row at most, for all clocks.

    `worked_at` is when a clock last made progress. A clock that hangs is alive and makes none.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    beat_at = models.DateTimeField()
    worked_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="contentapi_clockheartbeat_one_row")]

    def __str__(self) -> str:
        return f"alive at {self.beat_at:%Y-%m-%d %H:%M:%S}"
