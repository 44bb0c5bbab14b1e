"""The metrics: their names, kinds, labels and descriptions. docs/monitoring.md has the same table."""

from typing import Literal, NamedTuple


class Metric(NamedTuple):
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    description: str


METRICS: dict[str, Metric] = {
    "contentapi_requests_total": Metric(
        "counter", ("operation", "method", "status"), "Requests that got a response, without health checks."
    ),
    "contentapi_request_duration_seconds": Metric(
        "histogram", ("operation",), "Time from the complete request to its response, with the wait for a slot."
    ),
    "contentapi_response_bytes_total": Metric("counter", ("operation",), "Bytes in the bodies of responses."),
    "contentapi_cost_total": Metric("counter", ("operation",), "Cost of the GraphQL operations that were executed."),
    "contentapi_limits_reached_total": Metric(
        "counter", ("code", "limit"), "Errors of requests that exceeded a limit or a rate limit, or waited too long."
    ),
    "contentapi_statement_duration_seconds": Metric(
        "histogram", (), "Time of the statements of requests, with the network to PostgreSQL."
    ),
    "contentapi_slots": Metric("gauge", (), "Connection slots."),
    "contentapi_slots_in_use": Metric("gauge", (), "Connection slots that serve a request."),
    "contentapi_slots_waiting": Metric("gauge", (), "Requests that wait for a slot or for a lane."),
    "contentapi_slot_waits_total": Metric("counter", (), "Requests that waited for a slot or for a lane."),
    "contentapi_slot_wait_seconds_total": Metric("counter", (), "Time that requests waited for a slot or a lane."),
    "contentapi_cache_items": Metric("gauge", ("cache",), "Items of a cache."),
    "contentapi_cache_weight": Metric("gauge", ("cache",), "Weight of the items of a cache, in the unit of its limit."),
    "contentapi_cache_hits_total": Metric("counter", ("cache",), "Lookups that found an item."),
    "contentapi_cache_misses_total": Metric("counter", ("cache",), "Lookups that found no item."),
    "contentapi_posts_published_total": Metric("counter", ("interface",), "Posts that were published."),
    "contentapi_images": Metric("gauge", ("status",), "Images that are not deleted, counted each minute."),
    "contentapi_image_bytes": Metric("gauge", (), "Bytes of the public files of images, counted each minute."),
    "contentapi_images_processed_total": Metric("counter", ("outcome",), "Images whose files were made or rejected."),
    "contentapi_image_seconds_total": Metric("counter", (), "Time in which the files of images were made."),
    "contentapi_events_total": Metric("counter", (), "Events that were moved to the log."),
    "contentapi_events_batches_total": Metric("counter", (), "Batches in which they were moved."),
    "contentapi_events_waiting": Metric("gauge", (), "Events that wait to be moved, counted up to 10,000."),
    "contentapi_events_waiting_seconds": Metric("gauge", (), "Time for which the oldest of them has waited."),
    "contentapi_streams": Metric("gauge", (), "Open streams."),
    "contentapi_stream_groups": Metric("gauge", (), "Different streams: equal ones are read once."),
    "contentapi_stream_events_total": Metric("counter", (), "Events that streams have sent, once for each stream."),
    "contentapi_streams_closed_total": Metric("counter", ("reason",), "Streams that have ended."),
    "contentapi_webhooks": Metric("gauge", ("state",), "Webhooks, counted each minute."),
    "contentapi_webhook_waiting_seconds": Metric(
        "gauge", (), "Time for which the latest webhook has had something to send, measured each minute."
    ),
    "contentapi_webhook_attempts_total": Metric("counter", ("result",), "Attempts to send a delivery of a webhook."),
    "contentapi_webhook_seconds_total": Metric("counter", ("result",), "Time that these attempts took."),
    "contentapi_job_last_success_timestamp_seconds": Metric(
        "gauge", ("name",), "Time of the last success of a job of the worker: a statement or a round that ended."
    ),
    "contentapi_job_seconds_total": Metric("counter", ("name",), "Time in which a job of the worker was not waiting."),
    "contentapi_job_failures_total": Metric("counter", ("name",), "Rounds of a job of the worker that failed."),
    "contentapi_item_failures_total": Metric("counter", ("name",), "Items of a job, such as posts, that failed alone."),
    "contentapi_processes": Metric("gauge", ("role",), "Processes that run."),
    "contentapi_resident_memory_bytes": Metric("gauge", ("role",), "Resident memory of the processes."),
    "contentapi_open_files": Metric("gauge", ("role",), "Open file descriptors of the processes."),
    "contentapi_threads": Metric("gauge", ("role",), "Threads of the processes."),
    "contentapi_cpu_seconds_total": Metric("counter", ("role",), "CPU time of the processes."),
}
