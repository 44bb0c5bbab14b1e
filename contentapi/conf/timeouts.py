"""All time-outs, intervals and lifetimes, in one place: many depend on each other.

`derive_timeouts` returns those that follow from the settings. Each is below the next: PostgreSQL ends a statement
before a request gives up, a request gives up before the server ends its worker. `contentapi.conf.checks` reports
settings that contradict this. The others are constants, in seconds or as a `timedelta`, for comparison with times.
"""

from datetime import timedelta
from typing import NamedTuple

from contentapi.conf.environment import Environment

# Credentials
TOKEN_MAX_LIFETIME = 24 * 3600  # from `iat` to `exp` of a JWT
ACCESS_TOKEN_LIFETIME = 600  # of OAuth
CLOCK_LEEWAY = 30  # by which clocks may differ: added to `exp`, subtracted from `nbf`
MAX_IAT_LEAD = 60  # by which `iat` may lie in the future
KEY_RELOAD_INTERVAL = 5.0  # between two reads of the folder of keys
KEY_SET_MAX_AGE = 30  # for which clients cache the public keys
RETIRED_KEY_LIFETIME = TOKEN_MAX_LIFETIME + CLOCK_LEEWAY + 60  # the last 60 for servers that learn of the next key late
REVOCATION_INTERVAL = 2.0  # between two reads of the revoked tokens
KNOWN_BROWSER_LIFETIME = 180 * 24 * 3600  # without a login
PASSWORD_LINK_LIFETIME = timedelta(days=3)  # of a link in a mail, at which a person chooses a password
LAST_USE_INTERVAL = timedelta(minutes=1)  # between two updates of the last use of an API key

# Requests
IDEMPOTENCY_RETENTION = timedelta(hours=24)  # of the response to a write with a key
TRANSACTION_LIMIT = 5.0  # for all attempts to execute an operation with `@atomic` or an `Idempotency-Key`
DOCUMENT_LIFETIME = 7 * 24 * 3600  # of a persisted document in Redis

# Files and images
UPLOAD_LIFETIME = 15 * 60  # of an address to which a client sends a file
UPLOADS_KEPT_FOR = timedelta(hours=24)  # also those that are processed: a backup may have begun before
OLD_FILES_KEPT_FOR = timedelta(hours=24)  # of an image that has others now: pages that are open name them
S3_TIMEOUT = 10.0  # to connect, and then for each response
IMAGE_LIMIT = 20  # of processor time for one image
CLAIM = timedelta(seconds=30)  # of the worker on an image or an import, without a sign of life
CLAIM_RENEWAL = 5.0  # between two signs of life

# Webhooks
WEBHOOK_CONNECT_LIMIT = 5.0  # to resolve the name and to connect, with the handshake of TLS
WEBHOOK_LIMIT = 15.0  # for a whole attempt
WEBHOOK_LEASE = timedelta(seconds=60)  # of a sender that has claimed a webhook
WEBHOOK_BATCH_LIMIT = 15.0  # after a claim, in which attempts begin: they end before the lease
UPLOAD_LIMIT = 30.0  # for the body of an upload, beside the time that its bytes need
REFUSED_LIMIT = 5.0  # for discarding the body of an upload that is refused
WEBHOOK_RETRIES = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)  # from a failed attempt to the next
WEBHOOK_LONGEST_RETRY_AFTER = 86_400.0
WEBHOOK_FAILURES_LIMIT = timedelta(days=5)  # of nothing but failures, after which a webhook is disabled
WEBHOOK_SECRET_OVERLAP = timedelta(hours=24)  # in which the former secret signs too
WEBHOOK_STATEMENT_TIMEOUT = 5  # of a statement of the sender
WEBHOOK_BODY_TIMEOUT = 1  # of a statement that reads bodies for one webhook
WEBHOOK_REST = 30.0  # of a webhook after a statement for it failed
WEBHOOK_IDLE_INTERVAL = 0.25  # between two looks for something to send
WEBHOOK_BUSY_INTERVAL = 0.05  # the same, while something is being sent
WEBHOOK_STOP_LIMIT = 8.0  # in which attempts that have begun end after SIGTERM
WEBHOOK_KEEP_ALIVE = 30.0  # for which an unused connection to a receiver is kept

# Content
RESTORABLE_FOR = timedelta(days=30)  # a deleted post, comment or image
HISTORY_KEPT_FOR = RESTORABLE_FOR + timedelta(hours=1)  # a restore that began in time finds the history
HISTORY_ENTRY = timedelta(minutes=10)  # in which the versions of a draft by one person are one entry of the history
IMPORTS_KEPT_FOR = timedelta(days=30)
PARSER_LIMIT = 20.0  # of processor time for one file
IMPORT_SILENCE_LIMIT = timedelta(seconds=20 + PARSER_LIMIT)  # without progress of any import: no worker is running
PARSER_WAIT = 0.2  # for the parser, after which the caller may do something else
SHORTEST_PREVIEW_LIFETIME = 5 * 60  # of a preview link
DEFAULT_PREVIEW_LIFETIME = 24 * 3600
LONGEST_PREVIEW_LIFETIME = 30 * 24 * 3600
OWN_PREVIEW_LIFETIME = 3600  # of a link with which a person opens the site from the desk
SITE_PREVIEW_LIFETIME = 3600  # at most, of a link that shows the whole site
PREVIEWS_KEPT_FOR = timedelta(days=30)  # expired, so that the API can say that they have expired
PRESENCE_LIFETIME = timedelta(seconds=90)  # of an announcement that a page is open
LATE_COMMIT = 60  # for which a transaction may be open and commit a lower id than those seen
COMPARISON_INTERVAL = 600  # between two comparisons of the search index with the posts
RECENT = timedelta(days=1)  # what the first page of the desk shows
OVERDUE = timedelta(minutes=1)  # of a scheduled post; the worker publishes it within 10 seconds

# Streams
STREAM_LIFETIME = 3600  # at most; a tenth less for some, so that clients do not come back together
STREAM_RETRY = 2000  # milliseconds after which a browser comes back
STREAM_WRITE_LIMIT = 10  # in which a client takes a write
STREAM_KEEP_ALIVE = 15  # between two signs of life
STREAM_CHECK_INTERVAL = 1.0  # between two looks at the time limits
STREAM_CREDENTIAL_INTERVAL = 2.5  # between two checks of credentials; with `REVOCATION_INTERVAL` less than 5
STREAM_FOLLOW_INTERVAL = 1.0  # for which the follower waits for a notification
STREAM_RETRY_INTERVAL = 1.0  # after a read that failed
STREAM_PACE = 0.1  # for which a group of streams lets its clients read before it reads on
STREAM_BODY_TIMEOUT = 5.0  # for the body of a request
STREAM_STOP_LIMIT = 5.0  # in which streams end after SIGTERM
STREAM_RESTART_INTERVAL = 5.0  # after which `make run` starts the process of streams again
STREAM_START_LIMIT = 10.0  # in which an end shows that it cannot run
CHILD_INTERVAL = 0.2  # between two looks whether that process runs
TICKET_LIFETIME = 30

# The worker
PUBLICATION_INTERVAL = 2  # between two rounds of a job; at most 10 from the time of a post to its publication
IMPORT_INTERVAL = 5
SEARCH_INTERVAL = 5
SLUG_INTERVAL = 5
RENDERING_INTERVAL = 5
IMAGE_INTERVAL = 2
EVENTS_INTERVAL = 0.05  # between two looks into the outbox, while there are events
EVENTS_REFUSED = 60.0  # from an event that could not be moved to the next attempt
EVENTS_IDLE_INTERVAL = 1  # the same, after there have been none for `EVENTS_BUSY`
EVENTS_BUSY = 1.0
EVENTS_DELAY_LIMIT = 60  # for which an event waits in the outbox: the relay does not run
PARTITION_INTERVAL = 60  # between two looks for partitions that must be made or dropped
PARTITION_LOCK_TIMEOUT = 0.1  # for which writers and readers of events wait behind one that is dropped
PURGE_INTERVAL = 60
TOKEN_PURGE_INTERVAL = 3600
JOB_RETRY_INTERVAL = 5  # after a round that failed
JOB_CONNECTION_INTERVAL = 30  # between two rounds for which a job keeps its connection
JOB_STATEMENT_TIMEOUT = 60
JOB_LOCK_TIMEOUT = 2
JOB_PROGRESS_LIMIT = 2 * JOB_STATEMENT_TIMEOUT  # without progress of a job
WORKER_STOP_LIMIT = 10  # in which all jobs end their rounds after SIGTERM
HEARTBEAT_INTERVAL = 5  # between two heartbeats
HEARTBEAT_RETRY_INTERVAL = 1  # after a heartbeat that failed
HEARTBEAT_TIME_LIMIT = 3  # of one heartbeat
HEARTBEAT_LIMIT = 60  # without a heartbeat: more than the restart of a worker takes

# Probes and checks
READINESS_LIMIT = 1.8  # of all checks together
READINESS_DATABASE_LIMIT = READINESS_LIMIT - 0.2  # so that the reason is that of the check
READINESS_MAX_AGE = 1.0  # for which a result is used again
STORAGE_CHECK_INTERVAL = 30.0  # each check stores a file
REDIS_CHECK_LIMIT = 0.7  # to connect, and then for each response
START_CHECK_LIMIT = 2.5  # an attempt to connect ends before, so that its thread does not run at the fork
DATABASE_CHECK_LIMIT = 10.0  # for one statement of `doctor`

# Monitoring
SNAPSHOT_INTERVAL = 1.0  # between two snapshots of the figures of a process
COLLECT_INTERVAL = 30  # between two looks for processes that have ended
OUTAGE_INTERVAL = 1.0  # between two log lines about an outage
TRACE_STOP_LIMIT = 2.0  # for which a worker waits at its end for the collector
TRACE_LOG_INTERVAL = 60.0  # between two log lines about a collector that fails

# Mail
MAIL_DELAY = 0.5  # from a request until its mail is prepared: the response has been sent before
SMTP_TIMEOUT = 10.0  # to connect, and then for each response

# Redis
REDIS_TIMEOUT = 0.2  # to connect, and then for each response
REDIS_RETRY_INTERVAL = 5.0  # between two attempts to use a Redis that has failed

# Processes of a server
LIFE_SIGN_INTERVAL = 0.5  # between two signs of life of a worker
WATCHDOG_INTERVAL = 0.1  # between two looks of the master for signs of life
LINGER = 2.0  # for which a worker that ends responds on kept connections, and says that it closes them
SECOND_SIGNAL = 1.0  # after which another signal ends the server at once; two programs may send the first one
KILL_DELAY = 0.5  # in which a worker that hangs prints its stacks
ORPHAN_GRACE = 1.0  # for the requests that a worker handles when its master is killed
HANDSHAKE_LIMIT = 0.5  # in which clients complete handshakes that they have begun
QUEUE_INTERVAL = 0.02  # between two looks at the listen queue
HEADER_TIMEOUT = 5  # for the headers of a request
PEER_TIMEOUT = 60  # after which the kernel closes the connection of a client that vanished or does not read

# The watch of PostgreSQL servers
WATCH_INTERVAL = 0.25  # between two looks
QUESTION_INTERVAL = 0.5  # between two questions
ANSWER_LIMIT = 0.75  # in which a server that works answers
CONNECT_LIMIT = 1.25  # for which a request waits for a new connection
RECONNECT_LIMIT = 2.0  # in which the watch connects, for each host
OLDEST_STATE = QUESTION_INTERVAL + WATCH_INTERVAL + ANSWER_LIMIT  # after it, the next state or its failure is known
REPLICA_CHECK_LIMIT = READINESS_LIMIT - 2 * WATCH_INTERVAL  # for replicas to be in use after the start of the watch

# PostgreSQL
MAX_LOCK_TIMEOUT = 2.0  # for which a request waits for a lock at most
MIGRATION_LOCK_TIMEOUT = MAX_LOCK_TIMEOUT / 2  # below it: a request behind the migration must not fail
MIGRATION_PAUSE = 3  # in which requests that waited behind the migration are processed
POSTGRES_START_LIMIT = 60  # of the embedded server, which may include crash recovery
POSTGRES_RESTART_LIMIT = 10  # for which a request waits for a restart, and then for another process that restarts it
POSTGRES_RESTART_PAUSE = 5  # between a failed restart and the next attempt of the process
BACKUP_LOCK_TIMEOUT = 0.5  # of a distributed database: below PostgreSQL's deadlock_timeout, which would end requests
BACKUP_PAUSE = 1  # in which requests that waited behind the backup are processed
PROGRAM_LIMIT = 10  # in which pg_dump or pg_restore prints its version


class Timeouts(NamedTuple):
    """The time-outs, in seconds.

    `slot`: a request waits for a connection slot. `worker`: a worker gives no sign of life. `stall`: all slots are in
    use and none is released. `shutdown`: requests end after SIGTERM.
    """

    statement: float
    lock: float
    idle_in_transaction: float
    slot: float
    worker: float
    stall: float
    shutdown: float


def derive_timeouts(environment: Environment) -> Timeouts:
    """Return the time-outs that follow from the settings."""
    statement = environment.contentapi_statement_timeout / 1000
    worker = environment.contentapi_worker_timeout / 1000
    # An operation executes its root fields one after the other, each with one statement; a mutation needs some more.
    statements = max(environment.contentapi_max_root_fields, 2 * environment.contentapi_max_mutations)
    return Timeouts(
        statement=statement,
        lock=min(MAX_LOCK_TIMEOUT, statement),
        idle_in_transaction=worker / 2,
        slot=2 * statement,
        worker=worker,
        stall=worker + statements * statement,
        shutdown=environment.contentapi_shutdown_timeout / 1000,
    )
