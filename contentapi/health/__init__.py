"""Whether the server is alive and ready to serve, and what is wrong if it is not."""

CONNECTIONS_OF_WORKER = 17  # one for each job, and one for the heartbeat
CONNECTIONS_OF_STREAMS = 9  # of their process: readers, the follower, requests, credentials, readiness
