"""The positions of the actors' last writes, in Redis, so that every process knows them.

A lost position would let an actor miss their own write. So whatever can lose positions raises a fence: from then on all
authenticated reads require the position that the primary has after the loss was noticed. These events raise it:

* a flush: the epoch, a key without expiry, is missing or has another value;
* a restart of Redis, perhaps from an older snapshot, or a failover: a new connection finds another run id;
* a failure to store a position. The position is also kept in this process, and stored when Redis responds again;
* the start of this process.

A Redis that evicts keys can lose positions silently, and is not used.
"""

import logging
import secrets
import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from contentapi.db.postgresql.replication import ORIGIN, Position, ServerState

LOG = logging.getLogger("contentapi.replicas")
PREFIX = "contentapi:written:"
EPOCH = "contentapi:written-epoch"
EXPIRY = 3600  # seconds; longer than any lag that is accepted
REDIS_TIMEOUT = 0.2  # seconds
RETRY_INTERVAL = 1.0  # seconds between two attempts to use a Redis that has failed
MAX_UNSTORED = 10_000  # positions that are kept in this process while Redis is down

# Store a position unless there is a greater one. Returns the epoch.
STORE = """
local epoch = redis.call('GET', KEYS[1])
if not epoch then
  epoch = ARGV[3]
  redis.call('SET', KEYS[1], epoch)
end
local known = redis.call('GET', KEYS[2])
if not known or known < ARGV[1] then
  redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[2])
end
return epoch
"""


class Fence:
    """The position that all authenticated reads require. It is unknown from an event until the primary's next state."""

    def __init__(self) -> None:
        self.position: Position | None = None
        self.raised_at = time.monotonic()
        self.lock = Lock()

    def raise_now(self) -> None:
        with self.lock:
            self.position, self.raised_at = None, time.monotonic()

    def accept_state(self, state: ServerState) -> None:
        """Require the position of a state of the primary that was read after the event."""
        with self.lock:
            if self.position is None and state.time > self.raised_at:
                self.position = state.position


class WritePositions:
    """Stores and loads the positions. While Redis is down, no position is known."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.exceptions import RedisError
        from redis.retry import Retry

        self.failures = (RedisError, OSError)
        self.redis: Any = Redis.from_url(
            url,
            socket_timeout=REDIS_TIMEOUT,
            socket_connect_timeout=REDIS_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
            decode_responses=True,
            redis_connect_func=self.check_server,
        )
        self.store_script = self.redis.register_script(STORE)
        self.clock = clock
        self.fence = Fence()
        self.epoch: str | None = None
        self.run_id: str | None = None
        self.evicts = False
        self.retry_at: float | None = None  # while Redis is down
        self.unstored: dict[int, Position] = {}

    def check_server(self, connection: Any) -> None:
        """Prepare a new connection of redis-py, and raise the fence if it is to another run of the server."""
        connection.on_connect()
        connection.send_command("INFO")
        information = parse_information(connection.read_response())
        run_id = information.get("run_id", "")
        if run_id != self.run_id or not run_id:
            self.fence.raise_now()
            self.run_id = run_id
        evicts = information.get("maxmemory", "0") != "0" and information.get("maxmemory_policy") != "noeviction"
        if evicts and not self.evicts:
            LOG.error(
                "Redis may evict keys (maxmemory-policy %s), so authenticated reads go to the primary. "
                "Set maxmemory-policy to noeviction.",
                information.get("maxmemory_policy"),
            )
        self.evicts = evicts

    def load(self, user_id: int) -> Position | None:
        """Return the position that a read of a user requires. None: it is not known."""
        if self.retry_at is not None:
            return None
        try:
            epoch, text = self.redis.mget(EPOCH, f"{PREFIX}{user_id}")
            self.accept_epoch(epoch)
        except self.failures as error:
            self.accept_failure(error)
            return None
        fence = self.fence.position
        if fence is None or self.evicts:
            return None
        stored = decode_position(text) if text else ORIGIN
        return max(fence, stored, self.unstored.get(user_id, ORIGIN))

    def store(self, user_id: int, position: Position) -> None:
        """Store the position of a user's write. If this fails, it is kept in this process until it is stored."""
        if self.retry_at is None:
            try:
                self.send(user_id, position)
            except self.failures as error:
                self.accept_failure(error)
            else:
                return
        if len(self.unstored) < MAX_UNSTORED:
            self.unstored[user_id] = max(position, self.unstored.get(user_id, ORIGIN))
        self.fence.raise_now()

    def send(self, user_id: int, position: Position) -> None:
        arguments: list[str | int] = [encode_position(position), EXPIRY, secrets.token_hex(16)]
        self.accept_epoch(self.store_script(keys=[EPOCH, f"{PREFIX}{user_id}"], args=arguments))

    def accept_epoch(self, epoch: str | None) -> None:
        """Raise the fence if the epoch is another one: the positions from before are lost."""
        if epoch is None:
            self.redis.set(EPOCH, secrets.token_hex(16), nx=True)
            epoch = self.redis.get(EPOCH)
        if epoch != self.epoch:
            self.epoch = epoch
            self.fence.raise_now()

    def accept_failure(self, error: Exception) -> None:
        self.fence.raise_now()
        if self.retry_at is None:  # log the type only: the message may contain the password
            LOG.error("Redis is unavailable (%s). Authenticated reads go to the primary.", type(error).__name__)
        self.retry_at = self.clock() + RETRY_INTERVAL

    def accept_state(self, state: ServerState) -> None:
        """Accept a state of the primary, and try a Redis that was down. The watch of the primary calls this."""
        if self.retry_at is not None and self.clock() >= self.retry_at:
            self.reconnect()
        self.fence.accept_state(state)

    def reconnect(self) -> None:
        """Store the positions of the outage, and use Redis again."""
        try:
            for user_id, position in list(self.unstored.items()):
                self.send(user_id, position)
                if self.unstored.get(user_id) == position:
                    del self.unstored[user_id]
            self.redis.ping()
        except self.failures:
            self.retry_at = self.clock() + RETRY_INTERVAL
            return
        self.fence.raise_now()
        self.retry_at = None
        LOG.warning("Redis is available again.")


def encode_position(position: Position) -> str:
    """Return a text whose order is that of the positions."""
    return f"{position[0]:08x}{position[1]:016x}"


def decode_position(text: str) -> Position:
    return int(text[:8], 16), int(text[8:], 16)


def parse_information(response: Any) -> dict[str, str]:
    """Parse the response to INFO, which is text or, from redis-py's own parser, a dict."""
    if isinstance(response, dict):
        return {str(name): str(value) for name, value in response.items()}
    text = response.decode() if isinstance(response, bytes) else str(response)
    pairs = [line.partition(":") for line in text.splitlines()]
    return {name: value for name, separator, value in pairs if separator}
