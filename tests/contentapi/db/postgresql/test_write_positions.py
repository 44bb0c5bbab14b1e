import time

import pytest

from contentapi.db.postgresql import write_positions
from contentapi.db.postgresql.replication import UNREACHABLE_POSITION, Position, ServerState
from contentapi.db.postgresql.write_positions import WritePositions, decode_position, encode_position
from tests.redis_server import RedisServer


def accept(positions: WritePositions, lsn: int, *, timeline: int = 1) -> None:
    """Let the primary be at a position now."""
    time.sleep(0.001)
    positions.accept_state(ServerState(False, lsn, timeline, 7, time.monotonic()))


@pytest.fixture(autouse=True)
def wait_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Redis respond late: the machine may be busy."""
    monkeypatch.setattr(write_positions, "REDIS_TIMEOUT", 30)


@pytest.fixture
def positions(redis_server: RedisServer) -> WritePositions:
    """A process that has used Redis, and whose fence is at 100."""
    return start(redis_server)


def start(redis_server: RedisServer) -> WritePositions:
    positions = WritePositions(redis_server.url)
    assert positions.load(1) is None
    accept(positions, 100)
    return positions


def test_start_requires_the_position_of_the_primary(redis_server: RedisServer) -> None:
    positions = WritePositions(redis_server.url)
    assert positions.load(1) is None

    accept(positions, 100)

    assert positions.load(1) == (1, 100)


def test_position_of_a_write_is_known_to_every_process(positions: WritePositions, redis_server: RedisServer) -> None:
    other = WritePositions(redis_server.url)
    other.load(1)
    accept(other, 100)

    positions.store(1, (1, 150))

    assert (other.load(1), other.load(2)) == ((1, 150), (1, 100))


def test_lower_position_does_not_replace_a_higher_one(positions: WritePositions) -> None:
    positions.store(1, (1, 150))
    positions.store(1, (1, 140))
    assert positions.load(1) == (1, 150)

    positions.store(1, (2, 120))

    assert positions.load(1) == (2, 120)  # the timeline of a promoted primary


def test_flush_raises_the_fence_at_the_next_read(positions: WritePositions, redis_server: RedisServer) -> None:
    positions.store(1, (1, 150))

    redis_server.send("FLUSHALL")

    assert positions.load(1) is None
    accept(positions, 160)
    assert positions.load(1) == (1, 160)


def test_flush_noticed_by_another_process_raises_the_fence(
    positions: WritePositions, redis_server: RedisServer
) -> None:
    other = WritePositions(redis_server.url)
    other.load(1)
    redis_server.send("FLUSHALL")
    other.store(2, (1, 150))

    assert positions.load(1) is None


def test_restart_with_the_same_epoch_raises_the_fence(positions: WritePositions, redis_server: RedisServer) -> None:
    positions.store(1, (1, 150))
    epoch = positions.epoch
    redis_server.kill()
    redis_server.start()
    redis_server.send("SET", "contentapi:written-epoch", str(epoch))  # as from a snapshot

    assert positions.load(1) is None  # the connection is lost
    positions.retry_at = time.monotonic()
    accept(positions, 160)
    assert positions.load(1) is None  # until a state of the primary that was read after the reconnection
    accept(positions, 170)
    assert (positions.load(1), positions.epoch) == ((1, 170), epoch)


def test_new_connection_to_a_restarted_redis_raises_the_fence(
    positions: WritePositions, redis_server: RedisServer
) -> None:
    epoch = str(positions.epoch)
    redis_server.kill()
    redis_server.start()
    redis_server.send("SET", "contentapi:written-epoch", epoch)
    positions.redis.connection_pool.disconnect()  # no error shows that the server was restarted

    assert positions.load(1) is None
    assert positions.retry_at is None


def test_unstored_position_is_stored_when_redis_responds_again(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_positions, "REDIS_TIMEOUT", 0.5)
    positions = start(redis_server)
    redis_server.hang()
    positions.store(1, (1, 150))
    assert positions.load(1) is None
    redis_server.go_on()

    positions.retry_at = time.monotonic()
    accept(positions, 151)
    accept(positions, 152)

    other = WritePositions(redis_server.url)
    other.load(1)
    accept(other, 120)
    assert (positions.load(1), other.load(1)) == ((1, 152), (1, 150))


def test_redis_that_evicts_keys_is_not_used(redis_server: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    redis_server.send("CONFIG", "SET", "maxmemory", "100mb")
    redis_server.send("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    positions = WritePositions(redis_server.url)
    positions.load(1)
    accept(positions, 100)

    assert positions.load(1) is None
    assert "Set maxmemory-policy to noeviction." in caplog.text


@pytest.mark.parametrize("position", [(0, 0), (1, 67214560), (1, 2**63), UNREACHABLE_POSITION])
def test_encoded_position_is_decoded(position: Position) -> None:
    assert decode_position(encode_position(position)) == position


def test_order_of_encoded_positions_is_that_of_the_positions() -> None:
    ordered = [(1, 9), (1, 10), (1, 2**40), (2, 0), (10, 0), UNREACHABLE_POSITION]
    assert sorted(map(encode_position, reversed(ordered))) == [encode_position(each) for each in ordered]
