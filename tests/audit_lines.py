"""Collects the lines of the audit log."""

import logging
from typing import Any

from contentapi.monitoring.records import current_record


class Lines(logging.Handler):
    """Collects the lines of the audit log: the fields of each record, with the request id at that time."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: list[dict[str, Any]] = []
        self.request_ids: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        assert record.levelno == logging.INFO
        fields: dict[str, Any] = vars(record)["fields"]
        assert record.getMessage() == fields["event"]
        self.fields.append(fields)
        self.request_ids.append(current_record.get().id)

    @property
    def events(self) -> list[str]:
        return [fields["event"] for fields in self.fields]
