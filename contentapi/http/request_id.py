"""The id of the current request, for responses and log lines."""

import logging

from contentapi.monitoring.records import current_record


def get_request_id() -> str:
    """Return the id of the current request, `-` outside of requests."""
    return current_record.get().id


class RequestIdFilter(logging.Filter):
    """Adds the id of the request to a log record, and the id of its trace where there is one."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = current_record.get()
        record.request_id = request.id
        record.trace_id = request.trace_id
        return True
