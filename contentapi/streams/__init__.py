"""Streams: events sent while they happen, to Server-Sent Events and GraphQL subscriptions, by a process of its own."""
