"""The types of events are stated by `contentapi.schema`, which servers and workers import."""

import contentapi.schema  # noqa: F401
