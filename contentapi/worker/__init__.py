"""The background process: jobs that apps declare, each in a thread of its own, with its interval and heartbeat."""
